package org.opendedup.sar.restore.lookahead;

import java.io.Closeable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.PinnedChunks;

/**
 * Chunks that were fetched for positions of one reader that are no longer read ahead, and were not taken. They are kept
 * for a while, because the reader may return. The chunk parked longest ago is dropped first. While a chunk is parked,
 * the reader keeps its share of the memory. Safe for use by many threads.
 */
final class ParkedChunks implements Closeable {
    /** Heap bytes of a chunk's entry in {@link #chunks}. */
    private static final int ENTRY_BYTES = 96;

    /**
     * A chunk that is parked.
     *
     * @param bytes bytes fetched for it from the disk or the SSD; 0 if it was in memory
     * @param fromHome whether it was read from the disk and has not been reported yet
     */
    private record Parked(int bytes, boolean fromHome) {}

    private final PinnedChunks pinned;
    private final ReadCredit credit;
    private final ChunkHolds holds;
    /** By chunk id, the one parked longest ago first. Guarded by this, as are all fields below. */
    private final Map<Long, Parked> chunks = new LinkedHashMap<>();

    private StreamBudget.@Nullable Share share;
    /** When a chunk was last parked or taken, in nanoseconds. */
    private long usedNanos;

    private boolean closed;

    ParkedChunks(PinnedChunks pinned, ReadCredit credit) {
        this.pinned = pinned;
        this.credit = credit;
        holds = new ChunkHolds(pinned);
    }

    /** Measures whether reading ahead of the reader was of use. */
    ReadCredit credit() {
        return credit;
    }

    /** Takes a share of the memory; false if there is not enough now. */
    synchronized boolean tryJoin(StreamBudget budget) {
        share = budget.tryJoin();
        return share != null;
    }

    /** Returns the reader's share. Not to be called until {@link #tryJoin} has returned true. */
    synchronized StreamBudget.Share share() {
        if (share == null) {
            throw new IllegalStateException("no share of the memory was taken");
        }
        return share;
    }

    /** Most bytes that may be charged for parked chunks. */
    synchronized long mostBytes() {
        return closed ? 0 : share().mostParkedBytes();
    }

    /**
     * Parks a chunk that the caller holds. Does nothing if its bytes have not arrived, or if this is closed.
     *
     * @param bytes bytes fetched for it from the disk or the SSD; 0 if it was in memory
     * @param fromHome whether it was read from the disk
     * @return bytes charged for it
     */
    synchronized int park(long chunkId, int bytes, boolean fromHome) {
        int length = pinned.bytes(chunkId);
        if (closed || length < 0 || chunks.containsKey(chunkId)) {
            return 0;
        }
        int charge = PinnedChunks.heldBytes(length);
        holds.hold(chunkId, charge);
        chunks.put(chunkId, new Parked(bytes, fromHome));
        usedNanos = System.nanoTime();
        long most = mostBytes();
        Iterator<Long> oldest = chunks.keySet().iterator();
        while (bytes() > most && oldest.hasNext()) {
            holds.release(oldest.next());
            oldest.remove();
        }
        share().park(bytes());
        return charge + ENTRY_BYTES;
    }

    /**
     * Removes a chunk that a reader has taken, and which need not stay parked.
     *
     * @return whether it was read from the disk when it was fetched, and has not been reported yet
     */
    synchronized boolean take(long chunkId) {
        Parked parked = chunks.remove(chunkId);
        if (parked == null) {
            return false;
        }
        usedNanos = System.nanoTime();
        holds.release(chunkId);
        share().park(bytes());
        credit.wasted(-parked.bytes);
        return parked.fromHome;
    }

    synchronized boolean isEmpty() {
        return chunks.isEmpty();
    }

    private long bytes() {
        return holds.bytes() + (long) chunks.size() * ENTRY_BYTES;
    }

    /** Releases all chunks if none was parked or taken in the last {@code nanos} nanoseconds. */
    synchronized void releaseIfOld(long nanos) {
        if (!chunks.isEmpty() && System.nanoTime() - usedNanos > nanos) {
            releaseAll();
        }
    }

    /** Releases all chunks, and parks none from then on. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        releaseAll();
    }

    private void releaseAll() {
        holds.releaseAll();
        chunks.clear();
        share().park(0);
    }
}
