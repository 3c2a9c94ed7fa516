package org.opendedup.sar.collect;

/**
 * What a collection does at most.
 *
 * @param garbageShare share of the stored bytes that may stay garbage, from 0 to 1: the containers with the largest
 *     share of garbage are collected first, until no more than this is left. Containers without a live chunk are always
 *     removed
 * @param dryRun whether to only report what would be done
 */
public record CollectionLimits(double garbageShare, boolean dryRun) {
    /** Leaves so little garbage that a volume is at most a few percent larger than a fresh one with the same files. */
    public static final double DEFAULT_GARBAGE_SHARE = 0.03;

    public CollectionLimits {
        if (!(garbageShare >= 0 && garbageShare <= 1)) {
            throw new IllegalArgumentException("a share is between 0 and 1, not " + garbageShare);
        }
    }
}
