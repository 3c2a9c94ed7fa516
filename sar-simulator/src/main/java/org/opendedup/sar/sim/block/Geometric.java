package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/** Lengths of which each further step is as likely as the one before. */
final class Geometric {
    private Geometric() {}

    /** From 1 to {@code most}, on average {@code mean} where that is far below. */
    static int draw(SplittableRandom random, double mean, int most) {
        if (mean <= 1) {
            return 1;
        }
        double steps = StrictMath.log1p(-random.nextDouble()) / StrictMath.log1p(-1 / mean);
        return 1 + (int) Math.min(most - 1.0, steps);
    }
}
