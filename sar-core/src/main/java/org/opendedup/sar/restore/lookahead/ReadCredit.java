package org.opendedup.sar.restore.lookahead;

import java.util.concurrent.atomic.LongAdder;

/**
 * Measures whether reading ahead of one reader is of use: bytes fetched ahead that it took, and bytes fetched and
 * dropped unread. A reader that jumps between short runs, or skips parts of a file, is read ahead less. Safe for use by
 * many threads.
 */
final class ReadCredit {
    /** Bytes that may be fetched unused in any case. */
    private static final long FREE_BYTES = 2 << 20;
    /** Divisor: beyond {@link #FREE_BYTES}, one part in this many of the bytes taken may be fetched unused. */
    private static final long WASTED_PART = 16;
    /**
     * Divisor: a reader with too many bytes fetched unused is read ahead by one part in this many of its sequential
     * run.
     */
    private static final long RUN_PART = 8;

    private final LongAdder taken = new LongAdder();
    private final LongAdder wasted = new LongAdder();

    void took(long bytes) {
        taken.add(bytes);
    }

    /**
     * Adds bytes that were fetched and dropped unread.
     *
     * @param bytes dropped bytes; negative if dropped bytes turned out to be of use
     */
    void wasted(long bytes) {
        wasted.add(bytes);
    }

    /**
     * Returns how far to read ahead of a position, in bytes, by what was learned up to now; {@link Long#MAX_VALUE}: no
     * limit.
     *
     * @param several whether the reader reads in sequence at other positions, too
     * @param left bytes fetched for positions where nothing was read for a while
     * @param run bytes that the position has read in sequence
     * @param skipped bytes that it skipped meanwhile
     */
    long mostAhead(boolean several, long left, long run, long skipped) {
        // What the reader skips will be skipped in the fetched part as well: it counts from the first byte, even when
        // nothing was dropped yet.
        long inVain = skipped + Math.max(0, wasted.sum() + left - FREE_BYTES);
        if (inVain <= taken.sum() / WASTED_PART) {
            return several ? run / 2 : Long.MAX_VALUE;
        }
        return Math.max(0, run / RUN_PART - skipped);
    }
}
