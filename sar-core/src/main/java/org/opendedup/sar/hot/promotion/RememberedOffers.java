package org.opendedup.sar.hot.promotion;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;
import org.opendedup.sar.ssd.Cause;

/**
 * Chunks that were worth promoting while the queue was full: ids without bytes, so that they can be fetched and offered
 * again. Bounded, in memory only: chunks not fetched until the volume is closed are offered again with their next
 * duplicate, or their next reads. Safe for use by many threads.
 */
final class RememberedOffers {
    /** Heap bytes per chunk: up to three places of 12 bytes in the map, and one in the sorted list. */
    static final int BYTES_PER_CHUNK = 3 * (Long.BYTES + Integer.BYTES) + Long.BYTES;

    /** Result of {@link #get} for a chunk that is not remembered. */
    static final int ABSENT = -1;

    private static final int CAUSE_BITS = 2;
    private static final int MOST_RUN_BYTES = (1 << Integer.SIZE - 1 - CAUSE_BITS) - 1;

    static {
        if (Cause.values().length > 1 << CAUSE_BITS) {
            throw new AssertionError("a cause must fit its bits");
        }
    }

    /** Result of adding a chunk. */
    enum Answer {
        REMEMBERED,
        KNOWN,
        /** The memory limit is reached. */
        FULL
    }

    private final int most;
    /** Run bytes and cause of each chunk. Guarded by this. */
    private final LongIntHashMap chunks = new LongIntHashMap();

    private volatile int size;

    RememberedOffers(int most) {
        this.most = most;
    }

    /** @param runBytes bytes of the run in which it was requested */
    synchronized Answer add(long chunkId, Cause cause, long runBytes) {
        if (chunks.containsKey(chunkId)) {
            return Answer.KNOWN;
        }
        if (chunks.size() >= most) {
            return Answer.FULL;
        }
        chunks.put(chunkId, (int) Math.min(MOST_RUN_BYTES, runBytes) << CAUSE_BITS | cause.ordinal());
        size = chunks.size();
        return Answer.REMEMBERED;
    }

    /** Forgets a chunk; returns false if it was not remembered. */
    boolean remove(long chunkId) {
        if (size == 0) {
            return false;
        }
        synchronized (this) {
            boolean known = chunks.containsKey(chunkId);
            chunks.remove(chunkId);
            size = chunks.size();
            return known;
        }
    }

    /**
     * Returns the packed data of a chunk, for {@link #cause} and {@link #runBytes}; {@link #ABSENT} if it is not
     * remembered.
     */
    synchronized int get(long chunkId) {
        return chunks.getOrDefault(chunkId, ABSENT);
    }

    static Cause cause(int remembered) {
        return Cause.values()[remembered & (1 << CAUSE_BITS) - 1];
    }

    static long runBytes(int remembered) {
        return remembered >>> CAUSE_BITS;
    }

    /** Returns all chunks, ascending: the order in which a disk reads them with the fewest seeks. */
    synchronized long[] sorted() {
        long[] ids = chunks.keys().toArray();
        Arrays.sort(ids);
        return ids;
    }

    int size() {
        return size;
    }
}
