package org.opendedup.sar;

import java.util.concurrent.ThreadLocalRandom;

/** The seed of a random test. It is printed, so that a failure can be repeated with {@code -Dsar.seed=...}. */
public final class TestSeed {
    private TestSeed() {}

    public static long next() {
        Long given = Long.getLong("sar.seed");
        long seed = given != null ? given : ThreadLocalRandom.current().nextLong();
        System.out.println("sar.seed=" + seed);
        return seed;
    }
}
