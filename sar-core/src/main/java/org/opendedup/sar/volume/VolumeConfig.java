package org.opendedup.sar.volume;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.Compression;

/**
 * Everything that is fixed when a volume is made or mounted. The front ends read and write it (the volume XML); the
 * engine only takes it.
 *
 * @param name letters, digits, {@code .}, {@code _}, {@code -}
 * @param capacityBytes the most logical bytes the volume takes
 * @param maximumFullPercentage share of the capacity, 1 to 100, at which writes are refused with ENOSPC
 * @param locations where its parts lie
 * @param chunking how streams are cut
 * @param compression how frames are stored
 * @param pageBytes span of one recipe record, a power of two, 64 KiB to 4 MiB (SDFS: io-chunk-size)
 * @param memoryBudgetBytes all memory of the volume's process, native memory included, but for 150 MB of the JVM's own
 * @param writeThreads threads that fingerprint and compress
 * @param rootMode permissions of the root directory of a new volume, e.g. 0755
 * @param rootUid its owner
 * @param rootGid its group
 */
public record VolumeConfig(
        String name,
        long capacityBytes,
        int maximumFullPercentage,
        Locations locations,
        Chunking chunking,
        Compression compression,
        int pageBytes,
        long memoryBudgetBytes,
        int writeThreads,
        int rootMode,
        int rootUid,
        int rootGid) {

    /**
     * @param data containers; the truth
     * @param metadata namespace, recipes, counts; the truth
     * @param hashDb fingerprint index and frame tables; rebuilt when lost
     */
    public record Locations(Path data, Path metadata, Path hashDb) {}
}
