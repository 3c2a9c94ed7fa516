package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/**
 * When requests arrive: in bursts, with idle times between (SAR paper §4.2), and more by day than by night. For one thread.
 */
final class Arrivals {
    private static final double DAY_NANOS = 86_400e9;
    private static final double MEAN_BURST = 16;
    private static final int MOST_BURST = 1000;
    private static final double GAP_NANOS = 5e6;
    /** The busiest hour is so much above the mean as the quietest is below. */
    private static final double SWING = 0.5;

    private static final double BUSIEST = 14.0 / 24;

    private final SplittableRandom random;
    private final double meanPauseNanos;
    private double nowNanos;
    private int leftInBurst;

    Arrivals(SplittableRandom random, int requestsPerDay) {
        this.random = random;
        meanPauseNanos = DAY_NANOS * MEAN_BURST / requestsPerDay;
    }

    /** When the next request arrives. */
    long next() {
        if (leftInBurst == 0) {
            double time = nowNanos / DAY_NANOS;
            double activity = 1 + SWING * StrictMath.cos(2 * Math.PI * (time - BUSIEST));
            nowNanos += exponential(meanPauseNanos / activity);
            leftInBurst = Geometric.draw(random, MEAN_BURST, MOST_BURST);
        } else {
            nowNanos += exponential(GAP_NANOS);
        }
        leftInBurst--;
        return (long) nowNanos;
    }

    private double exponential(double mean) {
        return -mean * StrictMath.log1p(-random.nextDouble());
    }
}
