package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.plugin.PluginEngine;
import org.opendedup.sar.plugin.Settings;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the volume of chunks that the settings describe, or makes it. */
public final class ChunkVolumeOpener implements PluginEngine.Opener {
    private static final Logger log = LoggerFactory.getLogger(ChunkVolumeOpener.class);
    private static final int FRAME_BYTES = 64 << 10;
    /** KiB of a page, and of a chunk at least, if SDFS's volume file does not say. */
    private static final int PAGE_KB = 256;

    private static final int LEAST_CHUNK_KB = 4;
    private static final int PAGE_BYTES = PAGE_KB << 10;
    /** Days from a scrub to the next one: as often as a volume of files is scrubbed. */
    private static final long SCRUB_DAYS = 30;

    private static final long MOST_DAYS = 3650;

    /** The plugin's loader makes one by name. */
    public ChunkVolumeOpener() {}

    @Override
    public PluginEngine open(Map<String, String> settings) throws IOException {
        VolumeConfig config;
        Duration grace;
        VolumeCare.CareSettings care;
        boolean isReadAhead;
        boolean isSsdAttached;
        SdfsMaps maps;
        Values values = new Values(settings);
        try {
            config = config(values);
            grace = Duration.ofMinutes(values.number(Settings.GRACE_MINUTES, 60));
            care = care(values);
            isReadAhead = values.isOn(Settings.READ_AHEAD, true);
            isSsdAttached = values.isOn(Settings.SSD_ATTACH, false);
            maps = SdfsMaps.of(
                    values.text(Settings.HOST_MAPS, ""),
                    values.number(Settings.HOST_PAGE, PAGE_KB),
                    values.number(Settings.HOST_LEAST_CHUNK, LEAST_CHUNK_KB));
        } catch (IllegalArgumentException e) {
            throw new IOException("the settings of SAR on <extended-config>: " + e.getMessage(), e);
        }
        List<Path> used = usedFolders(config.locations());
        if (used.isEmpty()) {
            requireNoArchives(values.text(Settings.HOST_CHUNKS, ""));
            ChunkVolume.create(config);
        } else if (used.size() == 1 && used.get(0).equals(config.locations().hashDb())
                || !Files.isDirectory(config.locations().data())) {
            throw new IOException("chunks and metadata of SAR are not at their locations, and " + used.get(0)
                    + " is in use; is a disk not mounted? Nothing was made");
        }
        ChunkVolume volume = ChunkVolume.open(config, grace, maps);
        try {
            volume.setReadAhead(isReadAhead);
            if (isSsdAttached) {
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
            return new VolumeEngine(
                    volume,
                    config.locations(),
                    VolumeCare.begin(volume, config, values.text(Settings.NAME, config.name()), care));
        } catch (RuntimeException e) {
            try {
                volume.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private static VolumeCare.CareSettings care(Values values) {
        long days = values.number(Settings.SCRUB_DAYS, SCRUB_DAYS);
        if (days < 0 || days > MOST_DAYS) {
            throw new IllegalArgumentException(
                    Settings.SCRUB_DAYS + " must be from 0, which means no scrub by itself, to " + MOST_DAYS);
        }
        return new VolumeCare.CareSettings(
                values.isOn(Settings.COLLECT, true),
                Duration.ofDays(days),
                // A restored backup lacks the references that SDFS counted since: nothing else knows them.
                BackupSettings.of(values.text(Settings.BACKUP_INTERVAL, BackupSettings.DEFAULT_INTERVAL), (int)
                                values.number(Settings.BACKUPS_KEPT, BackupSettings.DEFAULT_KEEP))
                        .withEachEnd());
    }

    /** Requires that no volume with files is switched over: none of them could be read. */
    private static void requireNoArchives(String hostChunks) throws IOException {
        if (!hostChunks.isEmpty() && HostArchives.areIn(Path.of(hostChunks))) {
            throw new IOException("the volume has chunks of SDFS's own store in " + hostChunks + ", which the chunk"
                    + " store of SAR does not read. Name SDFS's classes again; to move the files, make another volume"
                    + " with the plugin, mount both, and copy them. Nothing was made");
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

    /** Returns those of the folders with chunks, metadata and index that have something in them. */
    private static List<Path> usedFolders(VolumeConfig.Locations locations) throws IOException {
        List<Path> used = new ArrayList<>();
        for (Path folder : List.of(locations.data(), locations.metadata(), locations.hashDb())) {
            if (Files.isDirectory(folder)) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                    if (files.iterator().hasNext()) {
                        used.add(folder);
                    }
                }
            }
        }
        return used;
    }

    private static VolumeConfig config(Values values) {
        Compression.Codec codec = Compression.Codec.valueOf(
                values.text(Settings.COMPRESSION, "zstd").toUpperCase(Locale.ROOT));
        VolumeConfig config = new VolumeConfig(
                values.text(Settings.HOST_VOLUME, values.text(Settings.NAME, "sdfs")),
                values.bytes(Settings.CAPACITY, Long.MAX_VALUE),
                100,
                new VolumeConfig.Locations(
                        Path.of(values.text(Settings.DATA, "")),
                        Path.of(values.text(Settings.METADATA, "")),
                        Path.of(values.text(Settings.INDEX, ""))),
                Chunking.SHA256,
                new Compression(codec, (int) values.number(Settings.COMPRESSION_LEVEL, 1), FRAME_BYTES),
                PAGE_BYTES,
                values.bytes(Settings.MEMORY, 1L << 30),
                (int) values.number(
                        Settings.WRITE_THREADS, Math.max(2, Runtime.getRuntime().availableProcessors())),
                new VolumeConfig.RootDirectory(0700, 0, 0));
        String ssd = values.text(Settings.SSD, "");
        if (ssd.isEmpty()) {
            return config;
        }
        HotSettings hot = new HotSettings(
                true,
                values.bytes(Settings.SSD_CAPACITY, 0),
                (int) values.number(Settings.THRESHOLD, 5),
                128 << 10,
                values.isOn(Settings.PROMOTE_ON_READ, true),
                (int) values.number(Settings.LRU_ENTRIES, 100_000),
                HotSettings.Policy.REFERENCE_COUNT);
        return config.withSsd(Path.of(ssd), hot);
    }

    /** The settings, with values where there are none. */
    private record Values(Map<String, String> settings) {
        String text(String name, String otherwise) {
            String value = settings.get(name);
            return value == null ? otherwise : value;
        }

        boolean isOn(String name, boolean otherwise) {
            String value = text(name, String.valueOf(otherwise)).trim().toLowerCase(Locale.ROOT);
            if (!value.equals("true") && !value.equals("false")) {
                throw new IllegalArgumentException(name + " must be true or false, not " + value);
            }
            return value.equals("true");
        }

        long number(String name, long otherwise) {
            String value = settings.get(name);
            try {
                return value == null ? otherwise : Long.parseLong(value.trim());
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + " must be a whole number, not " + value, e);
            }
        }

        long bytes(String name, long otherwise) {
            String value = settings.get(name);
            try {
                return value == null ? otherwise : ByteSize.parse(value.trim());
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
            }
        }
    }
}
