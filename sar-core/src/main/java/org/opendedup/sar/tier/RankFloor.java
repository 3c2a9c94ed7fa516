package org.opendedup.sar.tier;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What a candidate must be worth while the SSD is full: more than what had to leave last, by a margin. So a scan of chunks that
 * are all worth about the same does not push each other out, nor what is hot. Safe for use by many threads.
 */
final class RankFloor {
    static final long NONE = Long.MIN_VALUE;
    /** A candidate must be worth an eighth more: to replace equals by equals only wears the SSD. */
    private static final int MARGIN_SHIFT = 3;
    /** One chunk of the SSD that is wanted counts as much as so many refused: a scan hardly moves the clock. */
    private static final int TICKS_PER_HIT = 16;

    private final AtomicLong ticks = new AtomicLong();
    private volatile long floor = NONE;

    void set(long rank) {
        floor = rank;
    }

    boolean isSet() {
        return floor != NONE;
    }

    /** Whether a rank is above the floor by the margin, or there is no floor. */
    boolean isBelow(long rank) {
        long now = floor;
        return now == NONE || rank > now + (now >> MARGIN_SHIFT);
    }

    boolean admits(long rank) {
        if (isBelow(rank)) {
            return true;
        }
        ticks.incrementAndGet();
        return false;
    }

    void noteHits(int chunks) {
        if (chunks > 0) {
            ticks.addAndGet((long) chunks * TICKS_PER_HIT);
        }
    }

    /**
     * Whether so much was wanted that ranks are not what they were: once for each entry, on average. If so, the clock starts
     * anew. It moves by what is wanted, not by what is promoted: neither a scan nor a large backup makes the SSD forget what is
     * hot, and what nobody wants any more ages nonetheless.
     */
    boolean isStale(int entries) {
        long now = ticks.get();
        return now >= (long) TICKS_PER_HIT * Math.max(1, entries) && ticks.compareAndSet(now, 0);
    }
}
