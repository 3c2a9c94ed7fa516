package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.VolumeDefinition.check;
import static org.opendedup.sar.sdfs.config.VolumeDefinition.checkRange;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Selective promotion of chunks to an SSD ("SAR: SSD Assisted Restore Optimization for Deduplication-Based Storage Systems
 * in the Cloud"). Stored with the volume; this release does not promote yet.
 *
 * @param enabled whether chunks are promoted; needs a location
 * @param ssdLocation folder on the SSD, or null
 * @param ssdCapacityBytes the most bytes used there; 0 without a location
 * @param referenceCountThreshold references from which a chunk is worth promoting
 * @param maxRunBytes longest run of neighbouring chunks that still costs the disk a seek
 * @param promoteOnRead whether a second read promotes as well
 * @param lruEntries length of the list of extents recently read from the disk
 * @param policy what scores a chunk
 */
public record SarSettings(
        boolean enabled,
        @Nullable Path ssdLocation,
        long ssdCapacityBytes,
        int referenceCountThreshold,
        long maxRunBytes,
        boolean promoteOnRead,
        int lruEntries,
        Policy policy) {

    /** What makes a chunk worth its place on the SSD. */
    public enum Policy {
        /** The paper's rule: how many files refer to it. */
        REFERENCE_COUNT,
        /** Disk time saved per byte. */
        COST
    }

    /** @throws IllegalArgumentException naming what is wrong and what is allowed */
    public SarSettings {
        check(ssdLocation == null || ssdLocation.isAbsolute(), "the SSD location must be an absolute path");
        check(!enabled || ssdLocation != null, "promotion needs an SSD location");
        check(
                (ssdLocation == null) == (ssdCapacityBytes == 0) && ssdCapacityBytes >= 0,
                "an SSD location and an SSD capacity go together");
        checkRange("the reference count threshold", referenceCountThreshold, 1, Integer.MAX_VALUE);
        checkRange("the longest run in bytes", maxRunBytes, 1, 1L << 30);
        checkRange("the number of LRU entries", lruEntries, 0, 100_000_000);
    }
}
