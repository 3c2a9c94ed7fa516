package org.opendedup.sar.hot.policy;

import org.opendedup.sar.ssd.Cause;

/**
 * The policy of TDDFS (TDDFS paper, §3.4: reloading): what a program reads comes to the fast tier with the first read,
 * whatever its run or its number of references, and what was not read for the longest time goes first. A file that is
 * opened comes as a whole, in the background, unless it is so large that it would displace most others: of such a one
 * comes what is read, and what the reader's window holds.
 */
public record OpenPolicy() implements PromotionPolicy {
    private static final int HEAT_BITS = 8;
    private static final int MAX_COUNT = 0xffff;
    /** A file is large if it takes more than this part of the SSD. */
    private static final int LARGE_SHARE = 4;

    /** Promotes what is read. What is written is new, and has its bytes in a raw file if it is to be on the SSD. */
    @Override
    public boolean promotes(Cause cause, int count, int lengthBytes, long runBytes) {
        return cause == Cause.READ;
    }

    @Override
    public boolean reloads(long fileBytes, long capacityBytes) {
        return fileBytes <= capacityBytes / LARGE_SHARE;
    }

    @Override
    public boolean promotesFirstRead() {
        return true;
    }

    /**
     * Ranks by recent requests. Among equals, a chunk that more files share stays: demoting it would slow all of them.
     */
    @Override
    public long rank(int count, int recordBytes, int saving, int heat) {
        return (long) heat << 2 * HEAT_BITS | Math.min(count, MAX_COUNT);
    }
}
