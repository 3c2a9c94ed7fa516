package org.opendedup.sar.tier;

/** Chunk ids on their way from threads that must not wait to one that may; bounded. For one lock of its owner. */
final class DemotionQueue {
    private final long[] chunkIds;
    private int first;
    private int count;

    DemotionQueue(int capacity) {
        chunkIds = new long[capacity];
    }

    /** False if it is full. */
    boolean offer(long chunkId) {
        if (count == chunkIds.length) {
            return false;
        }
        chunkIds[(first + count++) % chunkIds.length] = chunkId;
        return true;
    }

    boolean isEmpty() {
        return count == 0;
    }

    long take() {
        long chunkId = chunkIds[first];
        first = (first + 1) % chunkIds.length;
        count--;
        return chunkId;
    }

    void clear() {
        count = 0;
    }
}
