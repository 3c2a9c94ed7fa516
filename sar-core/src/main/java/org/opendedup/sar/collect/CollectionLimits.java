package org.opendedup.sar.collect;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;

/**
 * What a collection does at most.
 *
 * @param garbageShare share of the stored bytes that may stay garbage, from 0 to 1: the containers with the largest
 *     share of garbage are collected first, until no more than this is left. Containers without a live chunk are always
 *     removed
 * @param dryRun whether to only report what would be done
 * @param recompressLevel zstd level with which containers are compressed anew, after the garbage; 0: none
 * @param recompressesYoung whether containers are compressed anew that may be garbage soon: those that did not exist
 *     when the collection before this one began
 * @param leaves data location whose containers are all moved to other ones, whatever their garbage; null: none
 */
public record CollectionLimits(
        double garbageShare,
        boolean dryRun,
        int recompressLevel,
        boolean recompressesYoung,
        @Nullable Path leaves) {
    /** Leaves so little garbage that a volume is at most a few percent larger than a fresh one with the same files. */
    public static final double DEFAULT_GARBAGE_SHARE = 0.03;

    public CollectionLimits {
        if (!(garbageShare >= 0 && garbageShare <= 1)) {
            throw new IllegalArgumentException("a share is between 0 and 1, not " + garbageShare);
        }
        if (recompressLevel < 0 || recompressLevel > StoredContainer.MAX_LEVEL) {
            throw new IllegalArgumentException(
                    "a level of zstd is from 1 to " + StoredContainer.MAX_LEVEL + ", not " + recompressLevel);
        }
    }

    /**
     * Returns the bytes of garbage that a collection with the default share gives back.
     *
     * @param storedBytes all stored bytes, with the garbage
     */
    public static long returnableBytes(long storedBytes, long garbageBytes) {
        double left = Victims.allowedGarbage(storedBytes - garbageBytes, DEFAULT_GARBAGE_SHARE);
        return Math.max(0, garbageBytes - (long) left);
    }

    /** Of a collection that leaves no location. */
    public CollectionLimits(double garbageShare, boolean dryRun, int recompressLevel, boolean recompressesYoung) {
        this(garbageShare, dryRun, recompressLevel, recompressesYoung, null);
    }

    /** Moves all containers of a data location. */
    public static CollectionLimits leaving(Path location) {
        return new CollectionLimits(1, false, 0, false, location);
    }

    /** Without compressing anew. */
    public CollectionLimits(double garbageShare, boolean dryRun) {
        this(garbageShare, dryRun, 0, false);
    }
}
