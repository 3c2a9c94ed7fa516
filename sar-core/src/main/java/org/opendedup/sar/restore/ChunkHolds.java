package org.opendedup.sar.restore;

import org.opendedup.sar.common.LongIntMap;

/**
 * The chunks that one reader holds for one purpose, and what they take: each is held once in {@link HeldChunks}, however many of the
 * reader's references want it. Only what was held here can be released here, so a reader never gives up what another one holds. Safe
 * for use by many threads.
 */
final class ChunkHolds {
    private final HeldChunks held;
    /** By chunk how many want it here. Guarded by this, as is all below it. */
    private final LongIntMap holders = new LongIntMap();
    /** By chunk the bytes it is charged. */
    private final LongIntMap charges = new LongIntMap();

    private long bytes;

    ChunkHolds(HeldChunks held) {
        this.held = held;
    }

    /**
     * One more wants a chunk, until he says {@link #release}.
     *
     * @param charge bytes that it takes at least, as {@link HeldChunks#heldBytes}
     * @return how much more is charged than before
     */
    synchronized int hold(long chunkId, int charge) {
        int before = holders.get(chunkId);
        if (before != LongIntMap.ABSENT) {
            holders.put(chunkId, before + 1);
            return charge > charges.get(chunkId) ? recharge(chunkId, charge) : 0;
        }
        charges.put(chunkId, charge);
        holders.put(chunkId, 1);
        try {
            held.hold(chunkId, charge);
        } catch (RuntimeException | Error e) {
            holders.remove(chunkId);
            charges.remove(chunkId);
            throw e;
        }
        bytes += charge;
        return charge;
    }

    /** Charges a chunk what it takes in fact, if it has come; returns how much more that is. */
    synchronized int came(long chunkId) {
        int length = held.bytes(chunkId);
        return length < 0 || !holders.contains(chunkId) ? 0 : recharge(chunkId, HeldChunks.heldBytes(length));
    }

    private int recharge(long chunkId, int charge) {
        int more = charge - charges.get(chunkId);
        charges.put(chunkId, charge);
        bytes += more;
        held.charge(chunkId, charge);
        return more;
    }

    /** Undoes one {@link #hold}. */
    synchronized void release(long chunkId) {
        int before = holders.get(chunkId);
        if (before > 1) {
            holders.put(chunkId, before - 1);
        } else if (before == 1) {
            holders.remove(chunkId);
            bytes -= charges.get(chunkId);
            charges.remove(chunkId);
            held.release(chunkId);
        } else {
            throw new IllegalStateException("a chunk is released that is not held");
        }
    }

    /** Undoes every {@link #hold}. Idempotent. */
    synchronized void releaseAll() {
        holders.forEachKey(held::release);
        holders.clear();
        charges.clear();
        bytes = 0;
    }

    synchronized boolean contains(long chunkId) {
        return holders.contains(chunkId);
    }

    /** What is charged. */
    synchronized long bytes() {
        return bytes;
    }
}
