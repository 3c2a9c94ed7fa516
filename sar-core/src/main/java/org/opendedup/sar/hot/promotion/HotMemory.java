package org.opendedup.sar.hot.promotion;

import org.opendedup.sar.ssd.StoreMemory;

/**
 * The heap of a volume's hot chunks.
 *
 * @param tableBytes heap bytes for the Map table and the LRU list
 * @param offerBytes heap bytes for chunks on their way to the SSD, and for the list of chunks that found the queue full
 */
public record HotMemory(long tableBytes, long offerBytes) {
    /**
     * The list gets 1/4 of the memory for offers: its entries are small, so it holds many more chunks than the queue.
     */
    private static final int LIST_SHARE = 4;

    /** Returns the heap bytes for the queue. */
    long queueBytes() {
        return offerBytes - offerBytes / LIST_SHARE;
    }

    /** Returns the number of chunks that may be remembered. */
    public int mostRemembered() {
        return (int) Math.min(Integer.MAX_VALUE / 4, offerBytes / LIST_SHARE / RememberedOffers.BYTES_PER_CHUNK);
    }

    public StoreMemory ofStore(int maxEntries) {
        return new StoreMemory(maxEntries, queueBytes());
    }
}
