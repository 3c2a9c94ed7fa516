package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongIntHashMap;

/**
 * The lookahead paper's log buffer (§3.6): a circular queue of chunks, where a new one overwrites the oldest. A hit
 * changes nothing.
 */
final class LogBuffer {
    private final long capacityBytes;
    private final LongQueue queue = new LongQueue();
    /** Length of each chunk in the queue, in bytes, by chunk id. */
    private final LongIntHashMap lengths = new LongIntHashMap();

    private long weightBytes;

    LogBuffer(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    boolean contains(long chunkId) {
        return lengths.containsKey(chunkId);
    }

    /** Whether the oldest chunk must be removed ahead of adding {@code bytes} bytes. */
    boolean isFullFor(int bytes) {
        return weightBytes > 0 && weightBytes + bytes > capacityBytes;
    }

    long removeOldest() {
        long chunkId = queue.remove();
        weightBytes -= lengths.remove(chunkId);
        return chunkId;
    }

    /**
     * Adds a chunk that is not in the queue. Does nothing if there is no room, for example for a chunk larger than the
     * buffer.
     */
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
        return queue.heapBytes() + lengths.ramBytesAllocated();
    }
}
