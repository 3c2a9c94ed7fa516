package org.opendedup.sar;

import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The seeds of random tests, and how long these go on. A run proves: it takes the same seeds each time. With
 * {@code -Dsar.explore=N} it explores: it makes N times as many rounds with new seeds, or with those from
 * {@code -Dsar.start=S} on. {@code -Dsar.seed=S} takes that seed only. Every seed is printed. What interrupts a run at
 * one step after the other takes some of them when it proves, and all when it explores.
 */
public final class TestSeed {
    private static final long PROVING = 1;
    /** Number of steps of a run that a proving run interrupts, about. */
    private static final int STEPS = 12;

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

    /** The steps of a run, by number, at which to interrupt it: the first, the last, and every n-th between. */
    public static IntStream steps(int count) {
        return steps(count, STEPS);
    }

    /** @param proving number of steps of a proving run, about */
    public static IntStream steps(int count, int proving) {
        // Odd: so where each change has two steps, before it and in the middle of it, these take turns.
        int stride = explores() ? 1 : Math.max(1, count / proving) | 1;
        return IntStream.range(0, count).filter(step -> step % stride == 0 || step == count - 1);
    }

    /** The command that repeats a test. */
    public static String again(Class<?> test, long seed) {
        return "scripts/test " + test.getSimpleName() + " -Dsar.seed=" + seed;
    }

    private static boolean explores() {
        return Integer.getInteger("sar.explore") != null;
    }

    private static long first() {
        return explores()
                ? Long.getLong("sar.start", ThreadLocalRandom.current().nextLong(1L << 32))
                : PROVING;
    }
}
