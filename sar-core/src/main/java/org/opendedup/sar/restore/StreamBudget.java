package org.opendedup.sar.restore;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/**
 * The memory of all readers in sequence: equal shares for those there are. A share that has become smaller, since there are more
 * readers, is used up to its old size until its reader has passed what it holds; so long the others have less. Safe for use by many
 * threads.
 */
public final class StreamBudget {
    /** With less, a step is so short that a disk seeks all the time; a reader more goes without. */
    static final long MIN_SHARE_BYTES = 8 << 20;

    /** In the tables of the policies, and in {@link References}: 85 to 170, as they double. */
    private static final int BYTES_PER_REFERENCE = 128;

    // Parts of a share.
    private static final int PARTS = 32;
    private static final int AHEAD_PARTS = 20;
    private static final int CACHE_PARTS = 9;
    private static final int TABLE_PARTS = PARTS - AHEAD_PARTS - CACHE_PARTS;
    /** Of the chunks of one step, their own bytes: with their rooms it is a ninth part of a share or less. */
    private static final int STEP_PARTS = 4;

    private final long bytes;
    private final CacheMaker caches;
    /** Guarded by this. */
    private final Set<Share> shares = new HashSet<>();

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

    /** However much more the chunks take that come than was charged for them: beyond this none is brought. */
    long mostHeldBytes() {
        return bytes + bytes / 4;
    }

    /** A share for one reader more; null if there is not enough by now. */
    synchronized @Nullable Share tryJoin() {
        if (bytes / (shares.size() + 1) < MIN_SHARE_BYTES || bytes - usedBytes(null) < MIN_SHARE_BYTES) {
            return null;
        }
        Share share = new Share();
        shares.add(share);
        return share;
    }

    /** What all but one of the shares take, each at least what it may take in any case. */
    private long usedBytes(@Nullable Share except) {
        long used = 0;
        for (Share share : shares) {
            used += share == except ? 0 : Math.max(MIN_SHARE_BYTES, share.usedBytes);
        }
        return used;
    }

    /** The memory of one reader, which must {@link #leave}. */
    final class Share {
        /** Guarded by the budget. */
        private long usedBytes;

        private long bytes() {
            synchronized (StreamBudget.this) {
                long fair = bytes / Math.max(1, shares.size());
                return Math.max(MIN_SHARE_BYTES, Math.min(fair, bytes - StreamBudget.this.usedBytes(this)));
            }
        }

        /** What the reader may be charged for what is fetched and not passed, by now. */
        long aheadBytes() {
            return bytes() / PARTS * AHEAD_PARTS;
        }

        /** Bytes of chunks in one step, by now. */
        long stepBytes() {
            return bytes() / PARTS * STEP_PARTS;
        }

        /** What the reader may be charged for what stays in its cache, by now. */
        long cacheBytes() {
            return bytes() / PARTS * CACHE_PARTS;
        }

        /** References that may be known in the reader's window, by now. */
        int references() {
            return (int) Math.min(Integer.MAX_VALUE, bytes() / PARTS * TABLE_PARTS / BYTES_PER_REFERENCE);
        }

        /** A cache of {@code memoryBytes} for the reader. */
        ContainerCache cache(long memoryBytes, ChunkHolder holder) {
            return caches.make(memoryBytes, holder);
        }

        /** Notes what the reader takes, or is about to. */
        void use(long charged) {
            synchronized (StreamBudget.this) {
                usedBytes = charged;
            }
        }

        /** Gives the memory back. */
        void leave() {
            synchronized (StreamBudget.this) {
                shares.remove(this);
            }
        }
    }
}
