package org.opendedup.sar.sim.year;

/**
 * The end of a run, compared with a new volume that stored only the kept backups, the oldest first. Both were closed
 * and opened before the sizes were taken. Bytes, unless another unit is named.
 *
 * @param collectEveryDays days from one collection to the next; 0: never
 * @param garbageShare share of garbage that a collection may leave
 * @param arrangeGain gain for which chunks are moved before a collection; 0: never
 * @param storedRatio storedBytes / freshStoredBytes
 * @param allocatedRatio allocatedBytes / freshAllocatedBytes
 * @param arrangedBytes what all arrangements moved, before compression
 * @param copiedBytes what all collections wrote
 * @param returnedBytes what all collections gave back, less what they wrote
 * @param victimBytes containers that the collections removed or wrote anew
 * @param collectionSeconds time of all arrangements and collections
 * @param oldestRestoreRequests disk requests for the oldest backup that is kept
 */
record RunSummary(
        int collectEveryDays,
        double garbageShare,
        double arrangeGain,
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
        long arrangedBytes,
        long copiedBytes,
        long returnedBytes,
        long victimBytes,
        double collectionSeconds,
        double restoreBytesPerSecond,
        long restoreRequests,
        long restoreDiskBytes,
        double oldestRestoreBytesPerSecond,
        long oldestRestoreRequests,
        double freshRestoreBytesPerSecond,
        long freshRestoreRequests,
        long freshRestoreDiskBytes,
        double freshOldestRestoreBytesPerSecond,
        long freshOldestRestoreRequests) {}
