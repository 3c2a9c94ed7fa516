package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/**
 * Generates the arrival times of requests: in bursts, with idle times between (SAR paper §4.2), and more by day than by
 * night. For one thread.
 */
final class Arrivals {
    private static final double DAY_NANOS = 86_400e9;
    private static final double MEAN_BURST = 16;
    private static final int MOST_BURST = 1000;
    private static final double GAP_NANOS = 5e6;
    /** Relative amplitude: the busiest hour is above the mean by this share, the quietest is below it by the same. */
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

    /** Returns the arrival of the next request, in nanoseconds from the start. */
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
