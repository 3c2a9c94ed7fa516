package org.opendedup.sar.sim.tddfs;

import com.carrotsearch.hppc.IntLongHashMap;

/** Sizes of the files as the requests change them. For one thread. */
final class FileSizes {
    private final IntLongHashMap sizes = new IntLongHashMap();
    private long total;

    void set(int file, long bytes) {
        total += bytes - sizes.get(file);
        sizes.put(file, bytes);
    }

    void grow(int file, long end) {
        set(file, Math.max(sizes.get(file), end));
    }

    /** Returns the bytes of all files. */
    long total() {
        return total;
    }
}
