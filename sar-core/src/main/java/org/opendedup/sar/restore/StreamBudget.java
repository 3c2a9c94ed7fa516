package org.opendedup.sar.restore;

import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/** The memory of all readers in sequence: equal shares for those there are. Safe for use by many threads. */
public final class StreamBudget {
    /** With less, a step is so short that a disk seeks all the time; a reader more goes without. */
    static final long MIN_SHARE_BYTES = 8 << 20;

    /** In the tables of the policies, and in {@link References}. */
    private static final int BYTES_PER_REFERENCE = 114;

    private final long bytes;
    private final CacheMaker caches;
    private int streams;

    /** Makes the cache of one reader. */
    @FunctionalInterface
    public interface CacheMaker {
        ContainerCache make(long memoryBytes, ChunkHolder holder);
    }

    /**
     * @param bytes of chunks, for all readers together
     * @param caches decides what stays in memory behind what a reader fetches
     */
    public StreamBudget(long bytes, CacheMaker caches) {
        this.bytes = bytes;
        this.caches = caches;
    }

    /** One reader more, if there is enough for it. It must {@link #leave}. */
    synchronized boolean tryJoin() {
        if (bytes / (streams + 1) < MIN_SHARE_BYTES) {
            return false;
        }
        streams++;
        return true;
    }

    synchronized void leave() {
        streams--;
    }

    private synchronized long share() {
        return bytes / Math.max(1, streams);
    }

    /** Bytes that a reader may have fetched and not passed, by now. */
    long aheadBytes() {
        return share() / 8 * 5;
    }

    /** Bytes that may stay in a reader's cache, by now. */
    long cacheBytes() {
        return share() / 4;
    }

    /** References that may be known in a reader's window, by now: what they take of the tables makes the rest of the share. */
    int references() {
        return (int) Math.min(Integer.MAX_VALUE, share() / 8 / BYTES_PER_REFERENCE);
    }

    /** A cache of {@code memoryBytes} for one reader. */
    ContainerCache cache(long memoryBytes, ChunkHolder holder) {
        return caches.make(memoryBytes, holder);
    }
}
