package org.opendedup.sar.sim.tddfs.policy;

import java.util.Arrays;

/** Chunks in the order of their use, by their numbers. For one thread. */
public final class ChunkLru {
    private static final int NONE = -1;
    private static final int LEAST_LENGTH = 1 << 10;

    /** Of a chunk that is not in the order: itself. */
    private int[] newer = new int[0];

    private int[] older = new int[0];
    /** Number of the request that used a chunk last. */
    private int[] uses = new int[0];

    private int oldest = NONE;
    private int newest = NONE;

    /** Makes a chunk the most recently used one; adds it if it is not in the order. */
    public void used(int chunk, int request) {
        ensureLength(chunk + 1);
        remove(chunk);
        uses[chunk] = request;
        newer[chunk] = NONE;
        older[chunk] = newest;
        if (newest == NONE) {
            oldest = chunk;
        } else {
            newer[newest] = chunk;
        }
        newest = chunk;
    }

    /** Removes a chunk. Without effect for one that is not in the order. */
    public void remove(int chunk) {
        if (chunk >= newer.length || newer[chunk] == chunk) {
            return;
        }
        if (newer[chunk] == NONE) {
            newest = older[chunk];
        } else {
            older[newer[chunk]] = older[chunk];
        }
        if (older[chunk] == NONE) {
            oldest = newer[chunk];
        } else {
            newer[older[chunk]] = newer[chunk];
        }
        newer[chunk] = chunk;
    }

    /** Returns whether there is no chunk. */
    public boolean isEmpty() {
        return oldest == NONE;
    }

    /** Returns the least recently used chunk; there is one. */
    public int oldest() {
        if (isEmpty()) {
            throw new IllegalStateException("there is no chunk");
        }
        return oldest;
    }

    /** Returns the number of the request that used the least recently used chunk last. */
    public int oldestUse() {
        return uses[oldest()];
    }

    private void ensureLength(int length) {
        if (length <= newer.length) {
            return;
        }
        int from = newer.length;
        int to = Math.max(Math.max(length, LEAST_LENGTH), from + from / 2);
        newer = Arrays.copyOf(newer, to);
        older = Arrays.copyOf(older, to);
        uses = Arrays.copyOf(uses, to);
        for (int i = from; i < to; i++) {
            newer[i] = i;
        }
    }
}
