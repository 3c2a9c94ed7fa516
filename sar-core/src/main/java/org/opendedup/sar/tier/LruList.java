package org.opendedup.sar.tier;

/**
 * The chunks lately read from the disk (SAR paper §3.3): 16 bytes an item, in primitive arrays, lost at unmount. Safe for use
 * by many threads.
 */
public final class LruList {
    /** @param items the most it remembers; 0: nothing */
    public LruList(int items) {
        throw new UnsupportedOperationException();
    }

    /**
     * Notes that a chunk was read from the disk.
     *
     * @return whether it was in the list already; it is then taken off, since it is promoted (SAR paper §3.4)
     */
    public boolean noteRead(long chunkId, int length) {
        throw new UnsupportedOperationException();
    }

    /** Items remembered. */
    public int size() {
        throw new UnsupportedOperationException();
    }

    public int capacity() {
        throw new UnsupportedOperationException();
    }

    public long heapBytes() {
        throw new UnsupportedOperationException();
    }

    /** Second reads found. */
    public long hits() {
        throw new UnsupportedOperationException();
    }

    public void clear() {
        throw new UnsupportedOperationException();
    }
}
