package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongIntHashMap;
import com.carrotsearch.hppc.cursors.LongIntCursor;
import org.opendedup.sar.restore.frame.PinnedChunks;

/**
 * The chunks that one reader holds for one purpose, and the bytes that they are charged. Each chunk is held once in
 * {@link PinnedChunks}, however many of the reader's references want it. Only chunks held here can be released here, so
 * a reader never releases a chunk that another one holds. Safe for use by many threads.
 */
final class ChunkHolds {
    private final PinnedChunks pinned;
    /** Number of holders of each chunk, by chunk id. Guarded by this, as are all fields below. */
    private final LongIntHashMap holders = new LongIntHashMap();
    /** Charged bytes of each chunk, by chunk id. */
    private final LongIntHashMap charges = new LongIntHashMap();

    private long bytes;

    ChunkHolds(PinnedChunks pinned) {
        this.pinned = pinned;
    }

    /**
     * Adds a holder of a chunk; each holder must call {@link #release}.
     *
     * @param charge least bytes to charge for it, as {@link PinnedChunks#heldBytes}
     * @return additional bytes charged
     */
    synchronized int hold(long chunkId, int charge) {
        if (holders.containsKey(chunkId)) {
            holders.addTo(chunkId, 1);
            return charge > charges.get(chunkId) ? recharge(chunkId, charge) : 0;
        }
        charges.put(chunkId, charge);
        holders.put(chunkId, 1);
        try {
            pinned.hold(chunkId, charge);
        } catch (RuntimeException | Error e) {
            holders.remove(chunkId);
            charges.remove(chunkId);
            throw e;
        }
        bytes += charge;
        return charge;
    }

    /** Charges a chunk its actual size, if it has arrived; returns the additional bytes charged. */
    synchronized int chargeArrived(long chunkId) {
        int length = pinned.bytes(chunkId);
        return length < 0 || !holders.containsKey(chunkId) ? 0 : recharge(chunkId, PinnedChunks.heldBytes(length));
    }

    private int recharge(long chunkId, int charge) {
        int more = charge - charges.get(chunkId);
        charges.put(chunkId, charge);
        bytes += more;
        pinned.charge(chunkId, charge);
        return more;
    }

    /** Undoes one {@link #hold}. */
    synchronized void release(long chunkId) {
        int before = holders.get(chunkId);
        if (before > 1) {
            holders.put(chunkId, before - 1);
        } else if (before == 1) {
            holders.remove(chunkId);
            bytes -= charges.remove(chunkId);
            pinned.release(chunkId);
        } else {
            throw new IllegalStateException("a chunk is released that is not held");
        }
    }

    /** Undoes every {@link #hold}. Idempotent. */
    synchronized void releaseAll() {
        for (LongIntCursor holder : holders) {
            pinned.release(holder.key);
        }
        holders.clear();
        charges.clear();
        bytes = 0;
    }

    synchronized boolean contains(long chunkId) {
        return holders.containsKey(chunkId);
    }

    /** Bytes charged. */
    synchronized long bytes() {
        return bytes;
    }
}
