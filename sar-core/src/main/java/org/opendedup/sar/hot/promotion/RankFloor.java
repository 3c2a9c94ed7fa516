package org.opendedup.sar.hot.promotion;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The rank that a candidate must exceed while the SSD is full: that of what was demoted last, plus a margin. So a scan
 * of chunks of about equal worth displaces neither one another nor hot chunks. Safe for use by many threads.
 */
public final class RankFloor {
    public static final long NONE = Long.MIN_VALUE;
    /** The margin, as a shift: a candidate must be worth 1/8 more. Replacing equals by equals only wears the SSD. */
    private static final int MARGIN_SHIFT = 3;
    /**
     * Clock ticks of one request for a chunk on the SSD; a refused candidate is one tick. So a scan hardly moves the
     * clock.
     */
    private static final int TICKS_PER_HIT = 16;

    private final AtomicLong ticks = new AtomicLong();
    private volatile long floor = NONE;

    public void set(long rank) {
        floor = rank;
    }

    public boolean isSet() {
        return floor != NONE;
    }

    /** Returns whether a rank is above the floor by the margin, or there is no floor. */
    public boolean isBelow(long rank) {
        long now = floor;
        return now == NONE || rank > now + (now >> MARGIN_SHIFT);
    }

    public boolean admits(long rank) {
        if (isBelow(rank)) {
            return true;
        }
        ticks.incrementAndGet();
        return false;
    }

    public void noteHits(int chunks) {
        if (chunks > 0) {
            ticks.addAndGet((long) chunks * TICKS_PER_HIT);
        }
    }

    /**
     * Returns whether the ranks are stale: chunks were requested once per entry, on average. If so, restarts the clock.
     * Requests move the clock, promotions do not: neither a scan nor a large backup makes the SSD forget hot chunks,
     * and chunks that are no longer requested still age.
     */
    public boolean isStale(int entries) {
        long now = ticks.get();
        return now >= (long) TICKS_PER_HIT * Math.max(1, entries) && ticks.compareAndSet(now, 0);
    }
}
