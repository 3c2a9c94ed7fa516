package org.opendedup.sar.join;

/**
 * How much must be stored more than once, so that a pass over all recipes is worth it; both limits hold.
 *
 * @param minBytes bytes of second and further copies, before compression
 * @param minShare their share of all stored bytes, from 0 to 1
 */
public record JoinLimits(long minBytes, double minShare) {
    /** Joins whatever is found. */
    public static final JoinLimits ALL = new JoinLimits(1, 0);

    /** For a pass that nobody asked for. */
    public static final JoinLimits WORTHWHILE = new JoinLimits(64L << 20, 0.01);

    public JoinLimits {
        if (minBytes < 1) {
            throw new IllegalArgumentException("a number of bytes is 1 or more, not " + minBytes);
        }
        if (!(minShare >= 0 && minShare <= 1)) {
            throw new IllegalArgumentException("a share is between 0 and 1, not " + minShare);
        }
    }

    /** Returns whether so much of so much is worth it. */
    public boolean areReached(long twiceBytes, long storedBytes) {
        return twiceBytes >= minBytes && twiceBytes >= minShare * storedBytes;
    }
}
