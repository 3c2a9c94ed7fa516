package org.opendedup.sar.restore.cache;

/**
 * The parameters of a {@link CachePolicy}. Ranges are checked.
 *
 * <p>The lookahead paper (§4) studies caches of 2, 4 and 8 containers of 2 MB, thresholds of 3 and 5 %, and log buffers
 * of one container and more. Its text has no numbers for the window; see {@link CachePolicy} for ours.
 *
 * @param memoryBytes most bytes of chunks in memory; 1 or more
 * @param containerBytes usual bytes of chunks in a container; 1 or more
 * @param windowContainers window of the lookahead policies, in containers of {@code containerBytes} bytes; 0: the
 *     policy's default
 * @param logShare share of the memory that the log buffer uses, 0 to 0.9
 * @param hotThreshold a container is hot if the window has references to more than this share of its chunks, 0 to 1
 * @param counting how references to containers are counted
 */
public record CacheParameters(
        long memoryBytes,
        int containerBytes,
        int windowContainers,
        double logShare,
        double hotThreshold,
        Counting counting) {
    /**
     * Share of the memory at which the log buffer measured best with 4 MiB containers, over the memory sizes (lookahead
     * paper §3.6, Fig. 12).
     */
    public static final double DEFAULT_LOG_SHARE = 0.25;
    /**
     * No victim is hot, so all are logged: of 128 setups measured, none reads less with the paper's threshold
     * (docs/RESTORE.md).
     */
    public static final double DEFAULT_HOT_THRESHOLD = 1;
    /** The paper's hot threshold, as a share of a container's chunks (lookahead paper §3.2). */
    public static final double PAPER_HOT_THRESHOLD = 0.05;

    public static final double MAX_LOG_SHARE = 0.9;

    /** How references to containers are counted (lookahead paper §3.4). */
    public enum Counting {
        /** Exactly, with a map entry for each container. */
        EXACT,
        /** Approximately, with the paper's counting Bloom filter. */
        BLOOM
    }

    public CacheParameters {
        check(memoryBytes >= 1, "the cache's memory is 1 byte or more, not " + memoryBytes);
        check(containerBytes >= 1, "a container has 1 byte or more, not " + containerBytes);
        check(windowContainers >= 0, "the window is 0 containers or more, not " + windowContainers);
        check(
                logShare >= 0 && logShare <= MAX_LOG_SHARE,
                "the log's share is 0 to " + MAX_LOG_SHARE + ", not " + logShare);
        check(hotThreshold >= 0 && hotThreshold <= 1, "the hot threshold is 0 to 1, not " + hotThreshold);
    }

    private static void check(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(problem);
        }
    }

    /** Returns the defaults: the policy's window, no victim hot, a quarter of the memory as log, exact counts. */
    public static CacheParameters of(long memoryBytes, int containerBytes) {
        return new CacheParameters(
                memoryBytes, containerBytes, 0, DEFAULT_LOG_SHARE, DEFAULT_HOT_THRESHOLD, Counting.EXACT);
    }

    public CacheParameters withWindowContainers(int containers) {
        return new CacheParameters(memoryBytes, containerBytes, containers, logShare, hotThreshold, counting);
    }

    public CacheParameters withLogShare(double share) {
        return new CacheParameters(memoryBytes, containerBytes, windowContainers, share, hotThreshold, counting);
    }

    public CacheParameters withHotThreshold(double threshold) {
        return new CacheParameters(memoryBytes, containerBytes, windowContainers, logShare, threshold, counting);
    }

    public CacheParameters withCounting(Counting how) {
        return new CacheParameters(memoryBytes, containerBytes, windowContainers, logShare, hotThreshold, how);
    }
}
