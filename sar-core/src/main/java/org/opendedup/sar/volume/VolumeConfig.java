package org.opendedup.sar.volume;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.Compression;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.tier.TierSettings;

/**
 * Everything that is fixed when a volume is made or mounted. The front ends read and write it (the volume XML); the
 * engine only takes it.
 *
 * @param name letters, digits, {@code .}, {@code _}, {@code -}
 * @param capacityBytes the most logical bytes the volume takes: those of its files without holes
 * @param maximumFullPercentage share of the capacity, 1 to 100, that others than root can use; ENOSPC beyond it
 * @param locations where its parts lie
 * @param chunking how streams are cut
 * @param compression how frames are stored
 * @param pageBytes span of one recipe record, a power of two, 64 KiB to 4 MiB (SDFS: io-chunk-size)
 * @param memoryBudgetBytes all memory of the volume's process, native memory included, but for 150 MB of the JVM's own
 * @param writeThreads threads that fingerprint and compress
 * @param rootMode permissions of the root directory of a new volume, e.g. 0755
 * @param rootUid its owner
 * @param rootGid its group
 * @param tier how the SSD is used; null without one
 * @param restore how sequential reading back is cached
 * @param requests what the front end takes of the memory budget; not kept with the volume
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
        int rootGid,
        @Nullable TierSettings tier,
        RestoreSettings restore,
        RequestBuffers requests) {

    /** @throws IllegalArgumentException if there is an SSD location and nothing says how it is used, or the other way round */
    public VolumeConfig {
        if ((locations.ssd() == null) != (tier == null)) {
            throw new IllegalArgumentException(
                    "an SSD needs a location and settings; given: location " + locations.ssd() + ", settings " + tier);
        }
    }

    /** A volume without an SSD, and with the defaults of reading back. */
    public VolumeConfig(
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
        this(
                name,
                capacityBytes,
                maximumFullPercentage,
                locations,
                chunking,
                compression,
                pageBytes,
                memoryBudgetBytes,
                writeThreads,
                rootMode,
                rootUid,
                rootGid,
                null,
                RestoreSettings.DEFAULT,
                RequestBuffers.NONE);
    }

    /** The same volume with an SSD. */
    public VolumeConfig withSsd(Path location, TierSettings settings) {
        Locations withSsd = new Locations(locations.data(), locations.metadata(), locations.hashDb(), location);
        return with(withSsd, memoryBudgetBytes, settings, restore, requests);
    }

    /** The same volume with another budget. */
    public VolumeConfig withMemoryBudget(long bytes) {
        return with(locations, bytes, tier, restore, requests);
    }

    /** The same volume, read back in another way. */
    public VolumeConfig withRestore(RestoreSettings settings) {
        return with(locations, memoryBudgetBytes, tier, settings, requests);
    }

    /** The same volume, served by another front end. */
    public VolumeConfig withRequests(RequestBuffers buffers) {
        return with(locations, memoryBudgetBytes, tier, restore, buffers);
    }

    /** The same volume but for what may be changed after it was made. */
    private VolumeConfig with(
            Locations locations,
            long memoryBudgetBytes,
            @Nullable TierSettings tier,
            RestoreSettings restore,
            RequestBuffers requests) {
        return new VolumeConfig(
                name,
                capacityBytes,
                maximumFullPercentage,
                locations,
                chunking,
                compression,
                pageBytes,
                memoryBudgetBytes,
                writeThreads,
                rootMode,
                rootUid,
                rootGid,
                tier,
                restore,
                requests);
    }

    /**
     * @param data containers; the truth
     * @param metadata namespace, recipes, counts; the truth
     * @param hashDb fingerprint index and frame tables; rebuilt when lost
     * @param ssd copies of chunks that make reading slow; may vanish at any moment; null: none
     */
    public record Locations(
            Path data, Path metadata, Path hashDb, @Nullable Path ssd) {
        /** Those of a volume without an SSD. */
        public Locations(Path data, Path metadata, Path hashDb) {
            this(data, metadata, hashDb, null);
        }
    }
}
