package org.opendedup.sar.restore.cache;

import org.opendedup.sar.common.LongIntMap;

/**
 * The lookahead paper's log buffer (§3.6): a circular queue of chunks, where a new one overwrites the oldest. A hit changes nothing.
 */
final class LogBuffer {
    private final long capacityBytes;
    private final LongQueue queue = new LongQueue();
    /** The length of each chunk in the queue. */
    private final LongIntMap lengths = new LongIntMap();

    private long weightBytes;

    LogBuffer(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    boolean contains(long chunkId) {
        return lengths.get(chunkId) != LongIntMap.ABSENT;
    }

    /** Whether the oldest chunk must leave before so many bytes can be added. */
    boolean isFullFor(int bytes) {
        return weightBytes > 0 && weightBytes + bytes > capacityBytes;
    }

    long removeOldest() {
        long chunkId = queue.remove();
        weightBytes -= lengths.get(chunkId);
        lengths.remove(chunkId);
        return chunkId;
    }

    /** Adds a chunk that is not in the queue; one that alone is larger than the buffer is not added. */
    void add(long chunkId, int bytes) {
        if (weightBytes + bytes <= capacityBytes) {
            queue.add(chunkId);
            lengths.put(chunkId, bytes);
            weightBytes += bytes;
        }
    }

    long weightBytes() {
        return weightBytes;
    }

    long heapBytes() {
        return queue.heapBytes() + lengths.heapBytes();
    }
}
