package org.opendedup.sar.sim.restore;

import org.opendedup.sar.common.ChunkId;

/** Hash table from fingerprints to chunk ids: open addressing in primitive arrays, 24 to 48 bytes a fingerprint. */
final class FingerprintTable {
    private static final int INITIAL_PLACES = 1 << 10;

    private long[] fingerprints = new long[INITIAL_PLACES];
    /** {@link ChunkId#NONE} if the place is free. */
    private long[] chunkIds = new long[INITIAL_PLACES];

    private int size;

    /** Returns the chunk id of a fingerprint, or {@link ChunkId#NONE}. */
    long get(long fingerprint) {
        return chunkIds[placeOf(fingerprint)];
    }

    /** Adds a fingerprint that is absent. */
    void add(long fingerprint, long chunkId) {
        if (3L * ++size > 2L * fingerprints.length) {
            grow();
        }
        set(fingerprint, chunkId);
    }

    private void set(long fingerprint, long chunkId) {
        int place = placeOf(fingerprint);
        fingerprints[place] = fingerprint;
        chunkIds[place] = chunkId;
    }

    private int placeOf(long fingerprint) {
        int mask = fingerprints.length - 1;
        long mixed = fingerprint * 0x9E3779B97F4A7C15L;
        int place = (int) (mixed ^ mixed >>> 32) & mask;
        while (chunkIds[place] != ChunkId.NONE && fingerprints[place] != fingerprint) {
            place = (place + 1) & mask;
        }
        return place;
    }

    private void grow() {
        long[] oldFingerprints = fingerprints;
        long[] oldIds = chunkIds;
        fingerprints = new long[oldFingerprints.length * 2];
        chunkIds = new long[oldIds.length * 2];
        for (int i = 0; i < oldIds.length; i++) {
            if (oldIds[i] != ChunkId.NONE) {
                set(oldFingerprints[i], oldIds[i]);
            }
        }
    }
}
