package org.opendedup.sar.common;

/**
 * Spreads chunk ids, which are consecutive numbers, over hash tables: the 64-bit finalizer of MurmurHash3 (Appleby).
 */
public final class ChunkHash {
    private ChunkHash() {}

    public static long of(long chunkId) {
        long h = chunkId;
        h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
        h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return h ^ (h >>> 33);
    }

    /**
     * Returns a place in a table of {@code places} places, which may be any number, from the upper half of a hash
     * (Lemire, "Fast random integer generation").
     */
    public static int place(long hash, int places) {
        return (int) ((hash >>> Integer.SIZE) * places >>> Integer.SIZE);
    }
}
