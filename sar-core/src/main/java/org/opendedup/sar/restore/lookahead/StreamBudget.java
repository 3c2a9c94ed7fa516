package org.opendedup.sar.restore.lookahead;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/**
 * The memory of all sequential readers: equal shares for the readers, each in equal parts for the positions that its
 * reader reads at. When more readers join, a share becomes smaller; it may be used up to its old size until its reader
 * has passed what it holds. Until then the other readers have less. Safe for use by many threads.
 */
public final class StreamBudget {
    /**
     * Least bytes of a share. With less, a batch is so short that a disk seeks all the time; another reader is refused
     * a share.
     */
    public static final long MIN_SHARE_BYTES = 8 << 20;

    /**
     * Least bytes of a part. A further position that would have less is refused a part: the kernel requests up to 1 MiB
     * at once.
     */
    static final long MIN_PART_BYTES = 4 << 20;

    /**
     * Heap bytes of a reference in the tables of the policies and in {@link References}: 90 to 180, because tables
     * double.
     */
    private static final int BYTES_PER_REFERENCE = 136;

    // Division of a share.
    private static final int PARTS = 32;
    private static final int AHEAD_PARTS = 20;
    private static final int CACHE_PARTS = 9;
    private static final int TABLE_PARTS = PARTS - AHEAD_PARTS - CACHE_PARTS;
    /**
     * Parts for the chunks of one batch, by their own bytes: with their slots a batch uses at most nine parts, so that
     * one can be fetched while the reader takes another. With shorter ones a disk seeks more often.
     */
    private static final int BATCH_PARTS = 8;
    /**
     * Parts for one batch of a reader that has much memory. Three such batches and the chunks behind the reader fit:
     * the disk reads one batch, the workers decode one, and the reader takes one.
     */
    private static final int SHORT_BATCH_PARTS = 5;
    /** Least bytes, of a share or a part of one, with which three such batches fit. */
    private static final long MUCH_BYTES = 124 << 20;

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
     * @param bytes bytes of chunks, for all readers together
     * @param caches makes the caches that decide which chunks stay in memory after they were fetched
     */
    public StreamBudget(long bytes, CacheMaker caches) {
        this.bytes = bytes;
        this.caches = caches;
    }

    /** Bytes of chunks in one batch of a reader that is alone. */
    public long batchBytes() {
        return batchBytes(bytes);
    }

    private static long batchBytes(long bytes) {
        int parts = bytes < MUCH_BYTES ? BATCH_PARTS : SHORT_BATCH_PARTS;
        return Math.min(PositionMemory.MAX_BATCH_BYTES, bytes / PARTS * parts);
    }

    /** Most heap bytes of the folders by which the readers of trees are found, for all of these readers together. */
    public long mostTrailBytes() {
        return bytes / PARTS;
    }

    /** Hard limit, in bytes: however much larger than charged the arriving chunks are, none is brought beyond it. */
    public long mostHeldBytes() {
        return bytes + bytes / 4;
    }

    /**
     * Returns a share for another reader; null if there is not enough memory now. The share ends when it has no part
     * and nothing is parked.
     */
    synchronized @Nullable Share tryJoin() {
        if (bytes / (shares.size() + 1) < MIN_SHARE_BYTES || bytes - usedBytes(null) < MIN_SHARE_BYTES) {
            return null;
        }
        Share share = new Share();
        shares.add(share);
        return share;
    }

    /** Bytes used by all shares except one, each counted with at least {@link #MIN_SHARE_BYTES}. */
    private long usedBytes(@Nullable Share except) {
        long used = 0;
        for (Share share : shares) {
            used += share == except ? 0 : Math.max(MIN_SHARE_BYTES, share.usedBytes(null));
        }
        return used;
    }

    /**
     * The memory of one reader: equal parts for the positions that it reads at, and the memory of what is parked for
     * it.
     */
    final class Share {
        /** Guarded by the budget, as are all fields below. */
        private final Set<Part> parts = new HashSet<>();

        private long parkedBytes;
        private boolean ended;

        /** Bytes of this share. Called with the budget's monitor held. */
        private long bytes() {
            long fair = bytes / Math.max(1, shares.size());
            return Math.max(MIN_SHARE_BYTES, Math.min(fair, bytes - StreamBudget.this.usedBytes(this)));
        }

        /** Bytes used by all parts except one, and by parked chunks. Called with the budget's monitor held. */
        private long usedBytes(@Nullable Part except) {
            long used = parkedBytes;
            for (Part part : parts) {
                used += part == except ? 0 : Math.max(MIN_PART_BYTES, part.usedBytes);
            }
            return used;
        }

        /** Returns a part for another position; null if there is not enough memory now, or the share has ended. */
        @Nullable
        Part tryPart() {
            synchronized (StreamBudget.this) {
                boolean isFirst = parts.isEmpty();
                long room = bytes() - usedBytes(null);
                long fair = (bytes() - parkedBytes) / (parts.size() + 1);
                if (ended || !isFirst && (room < MIN_PART_BYTES || fair < MIN_PART_BYTES)) {
                    return null;
                }
                Part part = new Part(this);
                parts.add(part);
                return part;
            }
        }

        /** Whether the share has no part left and nothing is parked: a reader that wants a part has to join again. */
        boolean hasEnded() {
            synchronized (StreamBudget.this) {
                return ended;
            }
        }

        /**
         * Returns the most bytes that may be parked now: as many as a single position has for what is ahead of it.
         * Leaves room for one position.
         */
        long mostParkedBytes() {
            synchronized (StreamBudget.this) {
                return Math.min(bytes() / PARTS * AHEAD_PARTS, bytes() - MIN_PART_BYTES);
            }
        }

        /** Sets the bytes charged for parked chunks. */
        void park(long charged) {
            synchronized (StreamBudget.this) {
                parkedBytes = charged;
                endIfUnused();
            }
        }

        /** Called with the budget's monitor held. */
        private void endIfUnused() {
            if (parts.isEmpty() && parkedBytes == 0) {
                ended = true;
                shares.remove(this);
            }
        }
    }

    /** The memory of one position of a reader; it must be closed with {@link #leave}. */
    final class Part {
        private final Share share;
        /** Guarded by the budget. */
        private long usedBytes;

        private Part(Share share) {
            this.share = share;
        }

        private long bytes() {
            synchronized (StreamBudget.this) {
                long all = share.bytes();
                long fair = (all - share.parkedBytes) / Math.max(1, share.parts.size());
                return Math.max(MIN_PART_BYTES, Math.min(fair, all - share.usedBytes(this)));
            }
        }

        /** Most bytes that the position may be charged now for what is fetched and not passed. */
        long aheadBytes() {
            return bytes() / PARTS * AHEAD_PARTS;
        }

        /** Bytes of chunks in one batch, now. */
        long batchBytes() {
            return StreamBudget.batchBytes(bytes());
        }

        /** Most bytes that the position may be charged now for what stays in its cache. */
        long cacheBytes() {
            return bytes() / PARTS * CACHE_PARTS;
        }

        /** Most references that may be known now in the position's window. */
        int references() {
            return (int) Math.min(Integer.MAX_VALUE, bytes() / PARTS * TABLE_PARTS / BYTES_PER_REFERENCE);
        }

        /** Makes a cache of {@code memoryBytes} bytes for the position. */
        ContainerCache cache(long memoryBytes, ChunkHolder holder) {
            return caches.make(memoryBytes, holder);
        }

        /** Sets the bytes that the position uses, or is about to use. */
        void use(long charged) {
            synchronized (StreamBudget.this) {
                usedBytes = charged;
            }
        }

        /** Releases the memory. */
        void leave() {
            synchronized (StreamBudget.this) {
                share.parts.remove(this);
                share.endIfUnused();
            }
        }
    }
}
