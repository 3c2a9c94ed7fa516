package org.opendedup.sar.tier;

/** Where promoted chunks go: the attached SSD, or the simulator's model of one. Safe for use by many threads. */
public interface PromotionTarget {
    /** What became of an offer. */
    enum Answer {
        /** Taken; on the SSD, and in the Map table, a little later. */
        TAKEN,
        /** It is there already, or on its way. */
        PRESENT,
        /** Too much is on its way. */
        QUEUE_FULL,
        /** No SSD is attached, or it takes no writes. */
        UNAVAILABLE
    }

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
    Answer offer(long chunkId, int check, int count, int saving, byte[] data, int offset, int length);

    /** Notes that a chunk was wanted again: its references, what a read of it saves, and that it is hot. Ignored if absent. */
    void noteWanted(long chunkId, int count, int saving);
}
