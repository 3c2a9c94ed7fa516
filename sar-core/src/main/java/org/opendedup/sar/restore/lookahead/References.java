package org.opendedup.sar.restore.lookahead;

import java.util.Arrays;

/**
 * A queue of references to chunks, in the order of their file: a ring of arrays, 28 bytes a reference. Not safe for use
 * by many threads.
 */
final class References {
    private static final int FIRST_CAPACITY = 1024;
    private static final int BYTES = 2 * Long.BYTES + 3 * Integer.BYTES;

    /** Length of all arrays, a power of two. */
    private int capacity = FIRST_CAPACITY;

    private int first;
    private int count;
    private long[] offsets = new long[FIRST_CAPACITY];
    private long[] chunkIds = new long[FIRST_CAPACITY];
    private int[] lengths = new int[FIRST_CAPACITY];
    private int[] needed = new int[FIRST_CAPACITY];
    private int[] fingerprintPrefixes = new int[FIRST_CAPACITY];

    int count() {
        return count;
    }

    long heapBytes() {
        return (long) capacity * BYTES;
    }

    /**
     * Adds a reference.
     *
     * @param offset file offset at which it begins
     * @param length bytes of the file that it stands for
     * @param neededBytes bytes that it needs of its chunk, from the first byte of the chunk on
     * @param fingerprintPrefix first four bytes of the chunk's fingerprint
     */
    void add(long offset, int length, long chunkId, int neededBytes, int fingerprintPrefix) {
        if (count == capacity) {
            grow();
        }
        int at = at(count++);
        offsets[at] = offset;
        chunkIds[at] = chunkId;
        lengths[at] = length;
        needed[at] = neededBytes;
        fingerprintPrefixes[at] = fingerprintPrefix;
    }

    private void grow() {
        offsets = unrolled(offsets);
        chunkIds = unrolled(chunkIds);
        lengths = unrolled(lengths);
        needed = unrolled(needed);
        fingerprintPrefixes = unrolled(fingerprintPrefixes);
        first = 0;
        capacity *= 2;
    }

    private long[] unrolled(long[] ring) {
        long[] larger = Arrays.copyOfRange(ring, first, first + 2 * capacity);
        System.arraycopy(ring, 0, larger, capacity - first, first);
        return larger;
    }

    private int[] unrolled(int[] ring) {
        int[] larger = Arrays.copyOfRange(ring, first, first + 2 * capacity);
        System.arraycopy(ring, 0, larger, capacity - first, first);
        return larger;
    }

    void removeFirst() {
        first = at(1);
        count--;
    }

    /** File offset at which a reference begins. */
    long offset(int i) {
        return offsets[at(i)];
    }

    /** File offset at which a reference ends. Those bytes may lie anywhere in the chunk. */
    long end(int i) {
        return offsets[at(i)] + lengths[at(i)];
    }

    long chunkId(int i) {
        return chunkIds[at(i)];
    }

    /** Bytes that a reference needs of its chunk, from the first byte of the chunk on. */
    int neededBytes(int i) {
        return needed[at(i)];
    }

    int fingerprintPrefix(int i) {
        return fingerprintPrefixes[at(i)];
    }

    private int at(int i) {
        return first + i & capacity - 1;
    }
}
