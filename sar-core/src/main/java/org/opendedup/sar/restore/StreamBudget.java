package org.opendedup.sar.restore;

import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/** The memory of all readers in sequence: equal shares for those there are. Safe for use by many threads. */
public final class StreamBudget {
    /** With less, a step is so short that a disk seeks all the time; a reader more goes without. */
    static final long MIN_SHARE_BYTES = 8 << 20;

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
     * @param caches decides what stays in half of a reader's share
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

    /** Bytes for each reader, by now. */
    synchronized long share() {
        return bytes / Math.max(1, streams);
    }

    ContainerCache cache(ChunkHolder holder) {
        return caches.make(share() / 2, holder);
    }
}
