package org.opendedup.sar;

import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/**
 * The seeds of random tests, and how long these go on. A run proves: it takes the same seeds each time. With
 * {@code -Dsar.explore=N} it explores: it makes N times as many rounds with new seeds, or with those from
 * {@code -Dsar.start=S} on. {@code -Dsar.seed=S} takes that seed only. Every seed is printed.
 */
public final class TestSeed {
    private static final long PROVING = 1;

    private TestSeed() {}

    public static long next() {
        Long given = Long.getLong("sar.seed");
        long seed = given != null ? given : first();
        System.out.println("-Dsar.seed=" + seed);
        return seed;
    }

    /** As many seeds as {@link #rounds} says. */
    public static LongStream upTo(int count) {
        if (Long.getLong("sar.seed") != null) {
            return LongStream.of(next());
        }
        long first = first();
        System.out.println("-Dsar.start=" + first);
        return LongStream.range(first, first + rounds(count));
    }

    /** Returns how many rounds to make, if a proving run makes {@code proving} of them. */
    public static int rounds(int proving) {
        return proving * Integer.getInteger("sar.explore", 1);
    }

    /** The command that repeats a test. */
    public static String again(Class<?> test, long seed) {
        return "scripts/test " + test.getSimpleName() + " -Dsar.seed=" + seed;
    }

    private static long first() {
        boolean explores = Integer.getInteger("sar.explore") != null;
        return explores ? Long.getLong("sar.start", ThreadLocalRandom.current().nextLong(1L << 32)) : PROVING;
    }
}
