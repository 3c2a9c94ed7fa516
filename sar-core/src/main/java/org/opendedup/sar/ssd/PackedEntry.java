package org.opendedup.sar.ssd;

/**
 * Packs a Map table entry into the bits that the table stores in addition to the chunk id: a place, 64 bits (segment
 * 16, offset / 8 24, length / 8 16, heat 8), and a worth, 32 bits (count 16, saving 16). Records are multiples of 8
 * bytes, so no bit is lost.
 */
final class PackedEntry {
    static final int ALIGNMENT = 8;
    /** Number of segments; segment numbers are smaller. */
    static final int SEGMENTS = 1 << 16;
    /** Upper bound of offsets (exclusive): 128 MiB. */
    static final int OFFSET_LIMIT = (1 << 24) * ALIGNMENT;
    /** Length of the longest record: 512 KiB minus 8 bytes. */
    static final int MAX_LENGTH = 0xffff * ALIGNMENT;

    static final int MAX_COUNT = 0xffff;
    static final int MAX_SAVING = 0xffff;
    static final int MAX_HEAT = 0xff;

    private static final int SEGMENT_SHIFT = 48;
    private static final int OFFSET_SHIFT = 24;
    private static final int LENGTH_SHIFT = 8;

    private PackedEntry() {}

    static long place(int segment, int offset, int length, int heat) {
        if (segment < 0 || segment >= SEGMENTS) {
            throw new IllegalArgumentException("segment " + segment + " is not from 0 to " + (SEGMENTS - 1));
        }
        if (offset < 0 || offset >= OFFSET_LIMIT || offset % ALIGNMENT != 0) {
            throw new IllegalArgumentException(
                    "offset " + offset + " is no multiple of " + ALIGNMENT + " below " + OFFSET_LIMIT);
        }
        if (length < 0 || length > MAX_LENGTH || length % ALIGNMENT != 0) {
            throw new IllegalArgumentException(
                    "length " + length + " is no multiple of " + ALIGNMENT + " up to " + MAX_LENGTH);
        }
        return (long) segment << SEGMENT_SHIFT
                | (long) (offset / ALIGNMENT) << OFFSET_SHIFT
                | (long) (length / ALIGNMENT) << LENGTH_SHIFT
                | cut(heat, MAX_HEAT);
    }

    static int worth(int count, int saving) {
        return cut(count, MAX_COUNT) << 16 | cut(saving, MAX_SAVING);
    }

    static int segment(long place) {
        return (int) (place >>> SEGMENT_SHIFT);
    }

    static int offset(long place) {
        return (int) (place >>> OFFSET_SHIFT & 0xff_ffff) * ALIGNMENT;
    }

    static int length(long place) {
        return (int) (place >>> LENGTH_SHIFT & 0xffff) * ALIGNMENT;
    }

    static int heat(long place) {
        return (int) place & MAX_HEAT;
    }

    static long withHeat(long place, int heat) {
        return place & ~(long) MAX_HEAT | cut(heat, MAX_HEAT);
    }

    static int count(int worth) {
        return worth >>> 16;
    }

    static int saving(int worth) {
        return worth & MAX_SAVING;
    }

    private static int cut(int value, int most) {
        return Math.max(0, Math.min(most, value));
    }
}
