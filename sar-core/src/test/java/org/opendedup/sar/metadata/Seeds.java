package org.opendedup.sar.metadata;

import java.util.Random;

/** Seeds of random tests: printed, and read again from the system property {@code sar.seed}. */
final class Seeds {
    private Seeds() {}

    static long next(String test) {
        long seed = Long.getLong("sar.seed", System.nanoTime());
        System.out.println(test + ": -Dsar.seed=" + seed);
        return seed;
    }

    static Random random(String test) {
        return new Random(next(test));
    }
}
