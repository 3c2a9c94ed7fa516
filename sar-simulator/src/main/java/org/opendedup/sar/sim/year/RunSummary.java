package org.opendedup.sar.sim.year;

/**
 * The end of a run, compared with a new volume that stored only the kept backups, the oldest first. Both were closed
 * and opened before the sizes were taken. Bytes, unless another unit is named.
 *
 * @param collectEveryDays days from one collection to the next; 0: never
 * @param garbageShare share of garbage that a collection may leave
 * @param storedRatio storedBytes / freshStoredBytes
 * @param allocatedRatio allocatedBytes / freshAllocatedBytes
 * @param copiedBytes what all collections wrote
 * @param returnedBytes what all collections gave back, less what they wrote
 * @param victimBytes containers that the collections removed or wrote anew
 * @param collectionSeconds time of all collections
 */
record RunSummary(
        int collectEveryDays,
        double garbageShare,
        int days,
        int keptBackups,
        long uniqueBytes,
        long garbageBytes,
        long storedBytes,
        long freshStoredBytes,
        double storedRatio,
        long allocatedBytes,
        long freshAllocatedBytes,
        double allocatedRatio,
        long copiedBytes,
        long returnedBytes,
        long victimBytes,
        double collectionSeconds,
        double restoreBytesPerSecond,
        long restoreRequests,
        long restoreDiskBytes,
        double freshRestoreBytesPerSecond,
        long freshRestoreRequests,
        long freshRestoreDiskBytes) {}
