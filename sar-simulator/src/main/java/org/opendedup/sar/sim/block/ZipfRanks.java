package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/**
 * Ranks whose probability falls with a power of the rank. The number of ranks is chosen so that a given number of draws
 * reaches a wanted share of distinct ones. No state.
 */
final class ZipfRanks {
    private static final int MOST_RANKS = 1 << 24;
    private static final double STEP = 1.01;

    private final int ranks;
    private final double skew;

    /** @param skew the power, from 0 (all equally likely) to below 1 */
    ZipfRanks(int ranks, double skew) {
        this.ranks = ranks;
        this.skew = skew;
    }

    /**
     * Returns the number of ranks with which {@code draws} draws reach {@code distinctShare} of their number in
     * distinct ranks.
     */
    static ZipfRanks forDistinct(long draws, double distinctShare, double skew) {
        int low = 1;
        int high = MOST_RANKS;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (expectedDistinct(middle, skew, draws) < distinctShare * draws) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return new ZipfRanks(low, skew);
    }

    /**
     * Returns the mean number of distinct ranks in a number of draws: the sum of 1 - e^(-draws p), in steps of a
     * hundredth of the rank.
     */
    private static double expectedDistinct(int ranks, double skew, long draws) {
        double sum = 0;
        double total = (StrictMath.pow(ranks + 1.0, 1 - skew) - 1) / (1 - skew);
        for (double from = 1; from < ranks + 1; ) {
            double to = Math.min(ranks + 1.0, Math.max(from + 1, from * STEP));
            double probability =
                    (StrictMath.pow(to, 1 - skew) - StrictMath.pow(from, 1 - skew)) / (1 - skew) / total / (to - from);
            sum += (to - from) * -StrictMath.expm1(-draws * probability);
            from = to;
        }
        return sum;
    }

    int ranks() {
        return ranks;
    }

    /** Draws a rank, from 0. */
    int draw(SplittableRandom random) {
        double most = StrictMath.pow(ranks + 1.0, 1 - skew) - 1;
        double rank = StrictMath.pow(1 + random.nextDouble() * most, 1 / (1 - skew)) - 1;
        return Math.min(ranks - 1, (int) rank);
    }
}
