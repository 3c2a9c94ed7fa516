package org.opendedup.sar.model;

import java.util.stream.LongStream;

/** The seeds of a random test: a few fixed ones, or the one of {@code -Dsar.seed=N}. */
public final class Seeds {
    private static final String SEED = "sar.seed";
    private static final String SEEDS = "sar.seeds";
    private static final String FIRST = "sar.firstSeed";
    private static final String OPS = "sar.ops";

    private Seeds() {}

    /**
     * The given seed; or as many as {@code count} or {@code -Dsar.seeds=N} says, beginning with 1 or
     * {@code -Dsar.firstSeed=N}.
     */
    public static LongStream upTo(int count) {
        Long given = Long.getLong(SEED);
        long first = Long.getLong(FIRST, 1);
        return given == null ? LongStream.range(first, first + Integer.getInteger(SEEDS, count)) : LongStream.of(given);
    }

    /** Number of ops to run: {@code -Dsar.ops=N}, or {@code usual}. */
    public static int ops(int usual) {
        return Integer.getInteger(OPS, usual);
    }

    /** The command that repeats a test. */
    public static String again(Class<?> test, long seed, int ops) {
        return "mvn -Dtest=" + test.getSimpleName() + " -Dsurefire.failIfNoSpecifiedTests=false -D" + SEED + "=" + seed
                + " -D" + OPS + "=" + ops + " package";
    }
}
