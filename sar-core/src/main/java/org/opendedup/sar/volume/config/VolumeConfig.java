package org.opendedup.sar.volume.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.tier.policy.TierSettings;

/**
 * The settings that are fixed when a volume is created or mounted. The front ends read and write them (the volume XML);
 * the engine only uses them.
 *
 * @param name name of the volume: letters, digits, {@code .}, {@code _}, {@code -}
 * @param capacityBytes maximum logical bytes of the volume: those of its files without holes
 * @param maximumFullPercentage share of the capacity, 1 to 100 percent, that users other than root can use; ENOSPC
 *     beyond it
 * @param locations places of the volume's parts
 * @param chunking how streams are divided into chunks
 * @param compression how frames are compressed
 * @param pageBytes bytes of a file that one recipe record covers, a power of two, 64 KiB to 4 MiB (SDFS: io-chunk-size)
 * @param memoryBudgetBytes all memory of the volume's process in bytes, native memory included, except 150 MB of the
 *     JVM's own
 * @param writeThreads number of threads that fingerprint and compress
 * @param rootMode permissions of the root directory of a new volume, e.g. 0755
 * @param rootUid owner of the root directory
 * @param rootGid group of the root directory
 * @param tier how the SSD is used; null without one
 * @param restore how sequential reads are cached
 * @param requests share of the memory budget that the front end uses; not kept with the volume
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
    /**
     * Maximum data size of a container, in bytes. Its file has at most 4 MiB: long enough for a disk to stream, short
     * enough to be rewritten at once. The last frames and the directory must not extend the file beyond 4 MiB. ext4
     * allocates space in pieces of 2 MiB to files of up to 4 MiB, and of 4 MiB to larger ones. Space in these pieces
     * that a file does not fill stays unused between the files. A disk then seeks from each container to the next.
     */
    public static final int CONTAINER_BYTES = (4 << 20) - (384 << 10);

    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException if there is an SSD location but no SSD settings, or settings but no location
     */
    public VolumeConfig {
        if ((locations.ssd() == null) != (tier == null)) {
            throw new IllegalArgumentException(
                    "an SSD needs a location and settings; given: location " + locations.ssd() + ", settings " + tier);
        }
    }

    /** Makes the settings of a volume without an SSD, with the default restore settings. */
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

    /** Returns these settings with an SSD. */
    public VolumeConfig withSsd(Path location, TierSettings settings) {
        Locations withSsd = new Locations(locations.data(), locations.metadata(), locations.hashDb(), location);
        return with(withSsd, memoryBudgetBytes, settings, restore, requests);
    }

    /** Returns these settings with another memory budget, in bytes. */
    public VolumeConfig withMemoryBudget(long bytes) {
        return with(locations, bytes, tier, restore, requests);
    }

    /** Returns these settings with other restore settings. */
    public VolumeConfig withRestore(RestoreSettings settings) {
        return with(locations, memoryBudgetBytes, tier, settings, requests);
    }

    /** Returns these settings for another front end. */
    public VolumeConfig withRequests(RequestBuffers buffers) {
        return with(locations, memoryBudgetBytes, tier, restore, buffers);
    }

    /** Returns these settings with other values for what may be changed after the volume was created. */
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
     * The places of a volume's parts.
     *
     * @param data containers; authoritative
     * @param metadata namespace, recipes, counts; authoritative
     * @param hashDb fingerprint index and frame tables; rebuilt when lost
     * @param ssd copies of chunks that make reading slow; may disappear at any moment; null: none
     */
    public record Locations(
            Path data, Path metadata, Path hashDb, @Nullable Path ssd) {
        /** Makes the locations of a volume without an SSD. */
        public Locations(Path data, Path metadata, Path hashDb) {
            this(data, metadata, hashDb, null);
        }
    }
}
