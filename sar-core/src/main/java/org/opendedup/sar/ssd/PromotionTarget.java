package org.opendedup.sar.ssd;

/**
 * The destination of promoted chunks: the attached SSD, or the simulator's model of one. Safe for use by many threads.
 */
public interface PromotionTarget {
    /** Returns whether an SSD that accepts chunks is attached, so that offering is of any use now. */
    default boolean isAvailable() {
        return true;
    }

    /** Returns whether the queue has room for many more chunks. Chunks that are offered again must not fill it. */
    default boolean hasQueueRoom() {
        return true;
    }

    /** Returns whether the chunk is in the Map table or on its way there. */
    boolean contains(long chunkId);

    /**
     * Offers a chunk. Never waits. Copies the bytes before it returns.
     *
     * @param fingerprintPrefix first bytes of its fingerprint, which the bytes must match
     * @param count current references to it
     * @param saving disk time that a read of it from here saves, in microseconds per KiB; at most 65535
     * @param cause why it is promoted
     */
    OfferAnswer offer(
            long chunkId,
            int fingerprintPrefix,
            int count,
            int saving,
            Cause cause,
            byte[] data,
            int offset,
            int length);

    /**
     * Notes that a chunk was requested again: updates its references and what a read of it saves, and raises its heat.
     * Ignored if the chunk is absent.
     */
    void noteWanted(long chunkId, int count, int saving);
}
