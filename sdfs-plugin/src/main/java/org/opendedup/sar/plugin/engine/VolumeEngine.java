package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.plugin.PluginEngine;
import org.opendedup.sar.sdfs.config.OwnFiles;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ChunkVolumeStatistics;
import org.opendedup.sar.volume.chunks.ChunkWalk;
import org.opendedup.sar.volume.chunks.StoredChunk;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An open volume of chunks, as the plugin sees it. */
final class VolumeEngine implements PluginEngine {
    private static final Logger log = LoggerFactory.getLogger(VolumeEngine.class);

    private final ChunkVolume volume;
    private final VolumeConfig.Locations locations;
    private final VolumeCare care;

    /** @param care keeps the volume in order; closed with it */
    VolumeEngine(ChunkVolume volume, VolumeConfig.Locations locations, VolumeCare care) {
        this.volume = volume;
        this.locations = locations;
        this.care = care;
    }

    @Override
    public boolean put(byte[] fingerprint, byte[] data, int length, int references, long stream, long[] location)
            throws IOException {
        try {
            ChunkVolume.Put put = volume.put(fingerprint, data, length, references, stream);
            location[0] = put.location();
            return put.isNew();
        } catch (NoSpaceException e) {
            throw new NoRoomException(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public long find(byte[] fingerprint) throws IOException {
        return volume.find(fingerprint);
    }

    @Override
    public byte @Nullable [] get(byte[] fingerprint, long location) throws IOException {
        return volume.get(fingerprint, location);
    }

    @Override
    public long claim(byte[] fingerprint, long location, long delta) throws IOException {
        return volume.claim(fingerprint, location, delta);
    }

    @Override
    public int references(long location) throws IOException {
        return volume.references(location);
    }

    @Override
    public void expectRead(long location) throws IOException {
        volume.expectRead(location);
    }

    @Override
    public void sync() throws IOException {
        volume.sync();
    }

    @Override
    public Chunks chunks() throws IOException {
        return new Walk(volume.walk());
    }

    @Override
    public long collect(boolean everything, Progress progress) throws IOException {
        if (!care.collects()) {
            log.warn("nothing is collected: {} is false", PluginOptions.COLLECT.ofPlugin());
            return 0;
        }
        long before = volume.statistics().chunks();
        CollectionLimits limits = care.limits(everything ? 0 : CollectionLimits.DEFAULT_GARBAGE_SHARE);
        CollectionWatcher.Watch watch = care.collecting(limits);
        @Nullable CollectionReport report = null;
        @Nullable Exception failure = null;
        try {
            report = volume.collect(
                    limits,
                    (done, of, returned) -> watch.collected(done, of, returned) && progress.collected(done, of));
        } catch (IOException e) {
            failure = e;
            throw e;
        } finally {
            watch.ended(report, failure);
        }
        return Math.max(0, before - volume.statistics().chunks());
    }

    @Override
    public Figures figures() {
        ChunkVolumeStatistics now = volume.statistics();
        return new Figures(
                now.chunks(),
                now.chunkBytes(),
                now.containerBytes(),
                now.capacityBytes(),
                now.readBytes(),
                now.storedBytes() + now.duplicateBytes());
    }

    @Override
    public void close() throws IOException {
        try {
            care.close();
        } finally {
            volume.close();
        }
        log.info("closed; everything is durable in {}", locations.data());
    }

    @Override
    public void delete() throws IOException {
        KeyHeaderCopies.erase(locations.data(), locations.metadata());
        List<OwnFiles> parts = new ArrayList<>();
        Path ssd = locations.ssd();
        if (ssd != null) {
            parts.add(OwnFiles.ssd(ssd));
        }
        parts.add(OwnFiles.index(locations.hashDb()));
        parts.add(OwnFiles.metadata(locations.metadata()));
        locations.furtherData().forEach(further -> parts.add(OwnFiles.containers(further)));
        // The first one last: it says whose the others are.
        parts.add(OwnFiles.containers(locations.data()));
        for (OwnFiles part : parts) {
            for (Path other : part.find().others()) {
                log.warn("{} is not the volume's, and stays", other);
            }
            part.remove(files -> {});
        }
    }

    /** The chunks of a walk. */
    private static final class Walk implements Chunks {
        private final ChunkWalk walk;
        private @Nullable StoredChunk at;

        Walk(ChunkWalk walk) {
            this.walk = walk;
        }

        @Override
        public boolean next() throws IOException {
            at = walk.next();
            return at != null;
        }

        private StoredChunk present() {
            StoredChunk chunk = at;
            if (chunk == null) {
                throw new IllegalStateException("there is no chunk here");
            }
            return chunk;
        }

        @Override
        public byte[] fingerprint() {
            return present().fingerprint();
        }

        @Override
        public long location() {
            return present().location();
        }

        @Override
        public int length() {
            return present().length();
        }
    }
}
