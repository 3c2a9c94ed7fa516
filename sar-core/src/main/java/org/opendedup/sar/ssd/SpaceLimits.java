package org.opendedup.sar.ssd;

/**
 * The division of an SSD's capacity.
 *
 * @param capacityBytes largest sum of all files at the location, in bytes
 * @param databaseBytes current bytes of the Map table's database
 * @param fullBytes bytes of segment files at which the disk was found full; otherwise a large number
 */
record SpaceLimits(long capacityBytes, long databaseBytes, long fullBytes) {
    /** Bytes of the largest segment: far below the 128 MiB that a Map table entry's offset can address. */
    private static final int MAX_SEGMENT_BYTES = 64 << 20;
    /** Bytes of the smallest segment: twice the longest record. */
    private static final int MIN_SEGMENT_BYTES = 1 << 20;
    /**
     * Segments that make up the smallest capacities, so that cleaning one is little work and needs little spare space.
     */
    private static final int SEGMENTS = 64;

    /**
     * Bytes kept for the database's log and buffers, and (next) the divisor of the capacity for its entries: 30 bytes
     * an entry, with records of about 1 KiB. More is kept if the database uses more.
     */
    private static final long DATABASE_BYTES = 4 << 20;

    private static final int DATABASE_SHARE = 32;
    /** Bytes by which the database may grow until it is measured again: a buffer written out. */
    private static final long DATABASE_GROWTH_BYTES = 2 << 20;

    /**
     * Cleaning copies u / (1 - u) bytes for each byte it gains, where u is the live share of the cleaned segment
     * (Rosenblum, LFS). With 85 % live over all segments, the emptiest are far below that.
     */
    private static final int LIVE_PERCENT = 85;

    static {
        if (MAX_SEGMENT_BYTES > PackedEntry.OFFSET_LIMIT || MIN_SEGMENT_BYTES < 2 * PackedEntry.MAX_LENGTH) {
            throw new AssertionError("segments must be within an entry's reach and hold the longest record");
        }
    }

    /**
     * Returns the capacity at which this many bytes may be live, if the database stays within its reserve: the inverse
     * of {@link #liveBytes}.
     */
    static long capacityFor(long liveBytes) {
        long appended = (liveBytes + LIVE_PERCENT - 1) / LIVE_PERCENT * 100;
        // A segment is a share of the wanted capacity, unless that is below or above the limits of a segment.
        double share = 1 - 1.0 / DATABASE_SHARE;
        long proportional = (long) Math.ceil((appended + DATABASE_BYTES) / (share - 1.0 / SEGMENTS));
        return (long) Math.ceil((appended + DATABASE_BYTES + segmentBytes(proportional)) / share);
    }

    /** Returns how many segments a log of that capacity has at most. */
    static long mostSegments(long capacityBytes) {
        return Math.min(PackedEntry.SEGMENTS, capacityBytes / segmentBytes(capacityBytes) + 1);
    }

    int segmentBytes() {
        return segmentBytes(capacityBytes);
    }

    private static int segmentBytes(long capacityBytes) {
        return (int) Math.max(MIN_SEGMENT_BYTES, Math.min(MAX_SEGMENT_BYTES, capacityBytes / SEGMENTS));
    }

    /** Returns the limit of the bytes of all segment files. */
    long logBytes() {
        long allowance = DATABASE_BYTES + capacityBytes / DATABASE_SHARE;
        long room = capacityBytes - Math.max(allowance, databaseBytes + DATABASE_GROWTH_BYTES);
        return Math.max(0, Math.min(room, fullBytes));
    }

    /**
     * Returns the limit of the bytes of segment files after an append of new records: one segment stays free for
     * cleaning.
     */
    long appendBytes() {
        return Math.max(0, logBytes() - segmentBytes());
    }

    /** Returns the limit of the bytes to which entries should point. */
    long liveBytes() {
        return appendBytes() / 100 * LIVE_PERCENT;
    }
}
