package org.opendedup.sar.sim.year;

/**
 * The state of a volume at the end of a day, after a collection on the days that have one. Bytes, unless another unit
 * is named.
 *
 * @param collectEveryDays days from one collection to the next; 0: never
 * @param garbageShare share of garbage that a collection may leave
 * @param arrangeGain gain for which chunks are moved before a collection; 0: never
 * @param day from 1
 * @param isSynthetic whether the day's backup was made; else it is one of the trace
 * @param backupBytes the day's backup
 * @param newBytes chunks of the day's backup that no earlier backup had, by the series
 * @param logicalBytes all kept backups
 * @param uniqueBytes chunks that kept backups refer to, before compression
 * @param garbageBytes chunks that no kept backup refers to, before compression
 * @param storedBytes containers
 * @param allocatedBytes what the packs take on the disk
 * @param arrangedBytes what the day's arrangement moved, before compression
 * @param replacedReferences references that lead to moved chunks since
 * @param copiedBytes what the day's collection wrote
 * @param returnedBytes what the day's collection gave back, less what it wrote
 * @param victimBytes containers that the day's collection removed or wrote anew
 * @param collectionSeconds time of the day's arrangement and collection
 * @param restoreBytesPerSecond predicted for the newest backup, from a hard disk, with cold caches
 * @param restoreRequests disk requests of that
 * @param restoreDiskBytes bytes of these
 */
record DayRow(
        int collectEveryDays,
        double garbageShare,
        double arrangeGain,
        int day,
        boolean isSynthetic,
        long backupBytes,
        long newBytes,
        long logicalBytes,
        long uniqueBytes,
        long garbageBytes,
        long storedBytes,
        long allocatedBytes,
        long arrangedBytes,
        long replacedReferences,
        long copiedBytes,
        long returnedBytes,
        long victimBytes,
        double collectionSeconds,
        double restoreBytesPerSecond,
        long restoreRequests,
        long restoreDiskBytes) {}
