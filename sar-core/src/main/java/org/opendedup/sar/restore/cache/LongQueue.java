package org.opendedup.sar.restore.cache;

/** A first-in, first-out queue of longs: a ring that doubles when it is full. */
final class LongQueue {
    private static final int INITIAL_LENGTH = 64;

    private long[] ring = new long[INITIAL_LENGTH];
    private long head;
    private long tail;

    void add(long value) {
        if (head - tail == ring.length) {
            grow();
        }
        ring[place(head++)] = value;
    }

    long remove() {
        if (head == tail) {
            throw new IllegalStateException("the queue is empty");
        }
        return ring[place(tail++)];
    }

    long heapBytes() {
        return (long) ring.length * Long.BYTES;
    }

    private int place(long position) {
        return (int) position & (ring.length - 1);
    }

    private void grow() {
        long[] grown = new long[ring.length * 2];
        for (long position = tail; position < head; position++) {
            grown[(int) position & (grown.length - 1)] = ring[place(position)];
        }
        ring = grown;
    }
}
