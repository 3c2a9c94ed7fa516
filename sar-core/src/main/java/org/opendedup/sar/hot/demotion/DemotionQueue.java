package org.opendedup.sar.hot.demotion;

/** A bounded queue of chunk ids, from threads that must not wait to one that may. Guarded by a lock of its owner. */
final class DemotionQueue {
    private final long[] chunkIds;
    private int first;
    private int count;

    DemotionQueue(int capacity) {
        chunkIds = new long[capacity];
    }

    /** Adds a chunk; returns false if the queue is full. */
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
