package org.opendedup.sar.restore.lookahead;

import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.Slabs;

/**
 * The bytes that a reader is charged for chunks that it is going to hold. A recipe says how much of a chunk is wanted,
 * but not how long the chunk is, and a chunk is held as a whole. Usually the whole chunk is wanted. If recent chunks
 * were longer than wanted, the next ones are expected to be longer by the same factor. Safe for use by many threads.
 */
final class ChunkCharges {
    /**
     * Shortest chunk that content-defined cutting makes within a file, in bytes. A shorter reference wants only a part
     * of its chunk.
     */
    private static final int PART_BYTES = 2 << 10;
    /** Average size, in bytes, of a chunk of which only a part is wanted and nothing else is known. */
    private static final int USUAL_BYTES = 8 << 10;
    /** Ratios below this one are usual, because a page border cuts a chunk in two; they are treated as 1. */
    private static final double USUAL_SWELLING = 1.25;

    private static final int MOST = PinnedChunks.heldBytes(Slabs.MAX_BYTES);

    private final PinnedChunks pinned;
    /** Actual size of the last chunks divided by their expected size; 1 if about equal. */
    private volatile double swelling = 1;

    ChunkCharges(PinnedChunks pinned) {
        this.pinned = pinned;
    }

    /** Returns the charge, in bytes, for a chunk of which {@code wanted} bytes are wanted. */
    int of(long chunkId, int wanted) {
        int known = pinned.bytes(chunkId);
        if (known >= 0) {
            return PinnedChunks.heldBytes(known);
        }
        int least = PinnedChunks.heldBytes(wanted < PART_BYTES ? USUAL_BYTES : wanted);
        return (int) Math.min(Math.max(MOST, least), swelling * least);
    }

    /**
     * Learns from a finished batch.
     *
     * @param charged bytes that the batch was charged
     * @param taken bytes that its chunks used, or would have used
     */
    void learn(long charged, long taken) {
        if (charged > 0) {
            double now = swelling * taken / charged;
            swelling = now < USUAL_SWELLING ? 1 : now;
        }
    }
}
