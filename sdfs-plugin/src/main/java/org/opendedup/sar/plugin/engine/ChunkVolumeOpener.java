package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.plugin.PluginEngine;
import org.opendedup.sar.sdfs.config.HostArchives;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.PluginVolumeFile;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.w3c.dom.Element;

/** Opens the volume of chunks that the settings describe, or makes it. */
public final class ChunkVolumeOpener implements PluginEngine.Opener {
    private static final Logger log = LoggerFactory.getLogger(ChunkVolumeOpener.class);

    /** The plugin's loader makes one by name. */
    public ChunkVolumeOpener() {}

    @Override
    public PluginEngine open(Element element) throws IOException {
        PluginVolumeFile file = PluginVolumeFile.of(element);
        VolumeConfig config = file.engineConfig();
        SdfsMaps maps;
        try {
            maps = SdfsMaps.of(
                    file.hostMaps(),
                    file.pageKb(),
                    file.leastChunkKb(),
                    config.hash().bytes());
        } catch (IllegalArgumentException e) {
            throw new IOException("the sizes in SDFS's volume file: " + e.getMessage(), e);
        }
        List<Path> used = PluginVolumeFile.usedFolders(config.locations());
        MountKeys keys = new MountKeys(file);
        if (used.isEmpty()) {
            requireNoArchives(file.hostChunks());
            requireNoChunk(maps, file);
            config = keys.create();
        } else if (used.size() == 1 && used.get(0).equals(config.locations().hashDb())
                || !Files.isDirectory(config.locations().data())
                || !Files.isDirectory(config.locations().metadata())) {
            throw new IOException("chunks and metadata of SAR are not at their locations, and " + used.get(0)
                    + " is in use; is a disk not mounted? Nothing was made");
        } else {
            config = keys.unlock();
        }
        Duration grace = Duration.ofMinutes(file.get(PluginOptions.GRACE_MINUTES));
        ChunkVolume volume = ChunkVolume.open(config, grace, maps);
        try {
            volume.setReadAhead(file.get(PluginOptions.READ_AHEAD));
            if (file.get(PluginOptions.SSD_ATTACH)) {
                attach(volume, config);
            }
            log.info(
                    "opened {}: {} chunks, containers of {} bytes in {}; metadata in {}, index in {}, SSD {}",
                    config.name(),
                    volume.statistics().chunks(),
                    volume.statistics().containerBytes(),
                    config.locations().data(),
                    config.locations().metadata(),
                    config.locations().hashDb(),
                    config.locations().ssd() == null
                            ? "none"
                            : volume.hot().status().state());
            return new VolumeEngine(volume, config.locations(), VolumeCare.begin(volume, config, file));
        } catch (RuntimeException e) {
            Closing.after(e, volume::close);
            throw e;
        }
    }

    /** Requires that no volume with files is switched over: none of them could be read. */
    private static void requireNoArchives(String hostChunks) throws IOException {
        if (!hostChunks.isEmpty() && HostArchives.areIn(Path.of(hostChunks))) {
            throw new IOException("the volume has chunks of SDFS's own store in " + hostChunks + ", which the chunk"
                    + " store of SAR does not read. Name SDFS's classes again; to move the files, make another volume"
                    + " with the plugin, mount both, and copy them. Nothing was made");
        }
    }

    /** Requires that there are no files: a new volume would lack their chunks. */
    private static void requireNoChunk(SdfsMaps maps, PluginVolumeFile file) throws IOException {
        try {
            maps.requireNoChunk();
        } catch (IOException e) {
            throw new IOException(
                    "there is nothing of SAR at its locations (chunks in "
                            + file.locations().data() + "), but SDFS has files: " + file.hostMaps() + ": "
                            + e.getMessage() + ". Are the disks with the chunks not mounted? If the chunks are lost"
                            + " for good, move that folder away. Nothing was made",
                    e);
        }
    }

    /**
     * Attaches an SSD that a volume did not have, if the administrator asks for it: an empty location is otherwise
     * taken for a disk that is not mounted. The volume can be used without it.
     */
    private static void attach(ChunkVolume volume, VolumeConfig config) {
        Path ssd = config.locations().ssd();
        if (ssd == null || volume.hot().status().state() != SsdState.DETACHED) {
            return;
        }
        try {
            volume.hot().attach(ssd);
        } catch (IOException e) {
            log.warn("the SSD at {} cannot be attached: {}", ssd, e.getMessage());
        }
    }
}
