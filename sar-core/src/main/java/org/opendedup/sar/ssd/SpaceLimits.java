package org.opendedup.sar.ssd;

/**
 * How an SSD's capacity is shared out.
 *
 * @param capacityBytes the most bytes of all files at the location
 * @param databaseBytes what the Map table's database takes now
 * @param fullBytes bytes of segment files at which the disk was found full; or a large number
 */
record SpaceLimits(long capacityBytes, long databaseBytes, long fullBytes) {
    /** The largest segment: far below the 128 MiB that a Map table entry's offset reaches. */
    private static final int MAX_SEGMENT_BYTES = 64 << 20;
    /** The smallest: twice the longest record. */
    private static final int MIN_SEGMENT_BYTES = 1 << 20;
    /** So many segments make up the smallest capacities, so that cleaning one is little work and needs little spare room. */
    private static final int SEGMENTS = 64;

    /**
     * Room kept for the database: its log and buffers, and 30 bytes an entry, where records are about a KiB. More is kept where it
     * takes more.
     */
    private static final long DATABASE_BYTES = 4 << 20;

    private static final int DATABASE_SHARE = 32;
    /** What the database may grow by until it is measured again: a buffer written out. */
    private static final long DATABASE_GROWTH_BYTES = 2 << 20;

    /**
     * Cleaning copies u / (1 - u) bytes for each byte it gains, where u is what is live of the segment cleaned (Rosenblum, LFS): with
     * 85 % live over all, the emptiest are far below that.
     */
    private static final int LIVE_PERCENT = 85;

    static {
        if (MAX_SEGMENT_BYTES > PackedEntry.OFFSET_LIMIT || MIN_SEGMENT_BYTES < 2 * PackedEntry.MAX_LENGTH) {
            throw new AssertionError("segments must be within an entry's reach and hold the longest record");
        }
    }

    /**
     * The capacity at which so many bytes may be live, if the database keeps to the room it has: what {@link #liveBytes} leaves, the other
     * way round.
     */
    static long capacityFor(long liveBytes) {
        long appended = (liveBytes + LIVE_PERCENT - 1) / LIVE_PERCENT * 100;
        // A segment is a share of the capacity that is looked for, unless that is below or above what a segment may be.
        double share = 1 - 1.0 / DATABASE_SHARE;
        long proportional = (long) Math.ceil((appended + DATABASE_BYTES) / (share - 1.0 / SEGMENTS));
        return (long) Math.ceil((appended + DATABASE_BYTES + segmentBytes(proportional)) / share);
    }

    int segmentBytes() {
        return segmentBytes(capacityBytes);
    }

    private static int segmentBytes(long capacityBytes) {
        return (int) Math.max(MIN_SEGMENT_BYTES, Math.min(MAX_SEGMENT_BYTES, capacityBytes / SEGMENTS));
    }

    /** The most bytes of all segment files. */
    long logBytes() {
        long allowance = DATABASE_BYTES + capacityBytes / DATABASE_SHARE;
        long room = capacityBytes - Math.max(allowance, databaseBytes + DATABASE_GROWTH_BYTES);
        return Math.max(0, Math.min(room, fullBytes));
    }

    /** The most bytes of segment files after an append of new records: a segment's room is left for cleaning. */
    long appendBytes() {
        return Math.max(0, logBytes() - segmentBytes());
    }

    /** The most bytes that entries should point to. */
    long liveBytes() {
        return appendBytes() / 100 * LIVE_PERCENT;
    }
}
