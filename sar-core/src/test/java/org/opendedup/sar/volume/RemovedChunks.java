package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.BitSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.ContainerBytes;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Writes containers of a volume anew, without chunks that files refer to: what a faulty collector would leave. */
public final class RemovedChunks {
    private static final long FREE_PACK = 1_000_000;

    private RemovedChunks() {}

    /**
     * Removes chunks of a sealed container, by their slots, and commits its new place. The volume must be opened again
     * then.
     */
    public static void remove(Volume volume, VolumeConfig config, long container, BitSet removed) throws IOException {
        MetadataStore metadata = volume.context().metadata();
        Directory data = FileDirectory.open(config.locations().data());
        Lock commits = volume.context().committer().commitLock();
        commits.lock();
        try (Compressor compressor = new Compressor(new Compression(Compression.Codec.ZSTD, 3, 64 << 10))) {
            StoredContainer present =
                    Objects.requireNonNull(metadata.containers().get(container));
            StoredContainer next = ContainerBytes.read(data, container, present, ContainerCipher.of(config.keys()))
                    .without(removed, compressor, null)
                    .write(data, FREE_PACK + 100 * container + present.writing().generation());
            metadata.commit(metadata.freeze(), new ContainerChanges(Map.of(container, next), Set.of()));
        } finally {
            commits.unlock();
        }
    }
}
