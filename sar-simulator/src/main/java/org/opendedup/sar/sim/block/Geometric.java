package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/** Draws lengths from a geometric distribution. */
final class Geometric {
    private Geometric() {}

    /** Returns a length from 1 to {@code most}; the mean is {@code mean} if that is far below {@code most}. */
    static int draw(SplittableRandom random, double mean, int most) {
        if (mean <= 1) {
            return 1;
        }
        double steps = StrictMath.log1p(-random.nextDouble()) / StrictMath.log1p(-1 / mean);
        return 1 + (int) Math.min(most - 1.0, steps);
    }
}
