package org.opendedup.sar.tier;

import java.util.Random;

/** Seeds of random tests: printed, and taken back from the system property {@code sar.seed}. */
final class Seeds {
    private Seeds() {}

    static Random random(String test) {
        long seed = Long.getLong("sar.seed", System.nanoTime());
        System.out.println(test + ": -Dsar.seed=" + seed);
        return new Random(seed);
    }
}
