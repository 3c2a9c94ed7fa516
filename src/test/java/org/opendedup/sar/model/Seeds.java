package org.opendedup.sar.model;

import java.util.stream.LongStream;

/** The seeds of a random test: a few fixed ones, or the one of {@code -Dsar.seed=N}. */
public final class Seeds {
    private static final String SEED = "sar.seed";
    private static final String SEEDS = "sar.seeds";
    private static final String OPS = "sar.ops";

    private Seeds() {}

    /** The given seed, or 1 to {@code count}, or to {@code -Dsar.seeds=N}. */
    public static LongStream upTo(int count) {
        Long given = Long.getLong(SEED);
        return given == null ? LongStream.rangeClosed(1, Integer.getInteger(SEEDS, count)) : LongStream.of(given);
    }

    /** How many ops to run: {@code -Dsar.ops=N}, or {@code usual}. */
    public static int ops(int usual) {
        return Integer.getInteger(OPS, usual);
    }

    /** The command that runs a test again. */
    public static String again(Class<?> test, long seed, int ops) {
        return "mvn -Dtest=" + test.getSimpleName() + " -Dsurefire.failIfNoSpecifiedTests=false -D" + SEED + "=" + seed
                + " -D" + OPS + "=" + ops + " package";
    }
}
