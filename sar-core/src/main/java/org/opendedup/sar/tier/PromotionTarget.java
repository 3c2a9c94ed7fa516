package org.opendedup.sar.tier;

import org.opendedup.sar.ssd.OfferAnswer;

/** Where promoted chunks go: the attached SSD, or the simulator's model of one. Safe for use by many threads. */
public interface PromotionTarget {
    /** Whether an SSD is attached that takes chunks, so that offering is of any use now. */
    default boolean isAvailable() {
        return true;
    }

    /** Whether the chunk is in the Map table or on its way there. */
    boolean contains(long chunkId);

    /**
     * Offers a chunk. Never waits; the bytes are copied before it returns.
     *
     * @param check first bytes of its fingerprint, which the bytes must have
     * @param count references to it by now
     * @param saving see {@link DiskCost#saving}
     */
    OfferAnswer offer(long chunkId, int check, int count, int saving, byte[] data, int offset, int length);

    /** Notes that a chunk was wanted again: its references, what a read of it saves, and that it is hot. Ignored if absent. */
    void noteWanted(long chunkId, int count, int saving);
}
