package org.opendedup.sar.sim.tddfs.tier;

/** The different chunks that ever existed, by number, with their lengths. For one thread. */
public final class Contents {
    private final IntColumn lengths = new IntColumn();
    private int size;

    /** Adds a content of that many bytes, and returns its number. */
    public int add(int bytes) {
        lengths.set(size, bytes);
        return size++;
    }

    /** Returns the bytes of a content. */
    public int length(int content) {
        return lengths.get(content);
    }

    /** Returns the number of contents. */
    public int size() {
        return size;
    }
}
