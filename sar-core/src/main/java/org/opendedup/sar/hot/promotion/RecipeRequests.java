package org.opendedup.sar.hot.promotion;

import java.util.Arrays;
import org.opendedup.sar.disk.DiskCost;

/**
 * The disk requests of a restore that read few useful bytes, as {@link RecipeUse} found them: about in the order of the
 * disk, each with its chunks in this order. They may be of several containers that lie one after another. SSD copies
 * save a request only if all its chunks have one. A struct of arrays.
 */
final class RecipeRequests {
    private int count;
    private int[] firstChunks = new int[64];
    private int[] savings = new int[64];
    private int[] visits = new int[64];
    private int chunks;
    private long[] chunkIds = new long[256];
    private int[] lengths = new int[256];

    /** Adds a chunk to the request that the next {@link #end} completes. */
    void add(long chunkId, int length) {
        if (chunks == chunkIds.length) {
            chunkIds = Arrays.copyOf(chunkIds, 2 * chunks);
            lengths = Arrays.copyOf(lengths, 2 * chunks);
        }
        chunkIds[chunks] = chunkId;
        lengths[chunks++] = length;
    }

    /** Completes a request of the chunks added since the last call. */
    void end(int saving, int visitsOfPlace) {
        if (count + 1 == firstChunks.length) {
            firstChunks = Arrays.copyOf(firstChunks, 2 * firstChunks.length);
            savings = Arrays.copyOf(savings, 2 * savings.length);
            visits = Arrays.copyOf(visits, 2 * visits.length);
        }
        savings[count] = saving;
        visits[count] = visitsOfPlace;
        firstChunks[++count] = chunks;
    }

    /** Returns the number of requests. */
    int count() {
        return count;
    }

    /**
     * Returns the index of a request's first chunk among all chunks; that of the next request is one past its last
     * chunk.
     */
    int firstChunk(int request) {
        return firstChunks[request];
    }

    long chunkId(int chunk) {
        return chunkIds[chunk];
    }

    /** Returns the bytes needed of a chunk. */
    int length(int chunk) {
        return lengths[chunk];
    }

    /** Returns the saving of a request; see {@link DiskCost#saving}. */
    int saving(int request) {
        return savings[request];
    }

    /** Returns how often a restore visits the place. */
    int visits(int request) {
        return visits[request];
    }

    /** Returns all requests; those that save the most disk time per byte of SSD first. */
    int[] bestFirst() {
        long[] keys = new long[count];
        for (int request = 0; request < count; request++) {
            long worth = Math.min((long) savings[request] * visits[request], Integer.MAX_VALUE);
            keys[request] = (Integer.MAX_VALUE - worth) << Integer.SIZE | request;
        }
        Arrays.sort(keys);
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = (int) keys[i];
        }
        return order;
    }
}
