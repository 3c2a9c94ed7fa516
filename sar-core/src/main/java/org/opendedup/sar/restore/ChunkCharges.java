package org.opendedup.sar.restore;

/**
 * What a reader is charged for chunks that it is going to hold. A recipe says how much of a chunk is wanted, not how long the chunk
 * is, and a chunk is held as a whole. Mostly all of it is wanted; where it was not, the next chunks are expected to be as much longer.
 * Safe for use by many threads.
 */
final class ChunkCharges {
    /** The shortest chunk that content-defined cutting makes within a file. Whoever wants less wants a part. */
    private static final int PART_BYTES = 2 << 10;
    /** So much a chunk has on average of which a part is wanted and nothing else is known. */
    private static final int USUAL_BYTES = 8 << 10;
    /** Up to here the difference is that of usual recipes: a page border cuts a chunk in two. */
    private static final double USUAL_SWELLING = 1.25;

    private static final int MOST = HeldChunks.heldBytes(Slabs.MAX_BYTES);

    private final HeldChunks held;
    /** How many times as much as expected the last chunks took; 1 if about as much. */
    private volatile double swelling = 1;

    ChunkCharges(HeldChunks held) {
        this.held = held;
    }

    /** The charge for a chunk of which {@code wanted} bytes are wanted. */
    int of(long chunkId, int wanted) {
        int known = held.bytes(chunkId);
        if (known >= 0) {
            return HeldChunks.heldBytes(known);
        }
        int least = HeldChunks.heldBytes(wanted < PART_BYTES ? USUAL_BYTES : wanted);
        return (int) Math.min(Math.max(MOST, least), swelling * least);
    }

    /** A step was charged so much, and its chunks took, or would have taken, so much. */
    void learn(long charged, long taken) {
        if (charged > 0) {
            double now = swelling * taken / charged;
            swelling = now < USUAL_SWELLING ? 1 : now;
        }
    }
}
