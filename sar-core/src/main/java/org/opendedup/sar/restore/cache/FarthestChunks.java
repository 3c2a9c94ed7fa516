package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;

/**
 * Chooses the chunks that a {@link WantedChunksCache} drops, among those with the farthest next reference. They are
 * added from the farthest on.
 *
 * <p>A container whose chunks are dropped from some reference on is read again at that reference, and this read brings
 * all of them back. So each container is rated by the greatest <em>area</em> over its references in question: bytes
 * dropped × references until the read, that is, memory freed times the time it is free. A container that is read again
 * in any case costs less, and its area counts {@value #READ_AGAIN} times. The containers with the greatest areas are
 * chosen; of the last one, no more bytes than needed. (Belady's rule for chunks, the farthest first, breaks up many
 * containers where a few would do: see docs/RESTORE.md.)
 */
final class FarthestChunks {
    /**
     * Most chunks considered for a choice, so that it takes some ten microseconds, however large the memory. Measured:
     * 1000 are enough.
     */
    static final int MOST = 2048;

    /**
     * Factor for the area of a container that is read again in any case. Measured: 2 to 4 are the same, 1 is worse by 1
     * to 2 %.
     */
    private static final int READ_AGAIN = 2;

    private static final int INITIAL = 64;

    // Arrays indexed by chunk, in the order of adding.
    private long[] distances = new long[INITIAL];
    private int[] candidateOf = new int[INITIAL];
    private int count;

    // Arrays indexed by candidate: a container.
    private final LongIntHashMap candidates = new LongIntHashMap();
    private long[] bytes = new long[INITIAL];
    private float[] bestAreas = new float[INITIAL];
    private long[] bestBytes = new long[INITIAL];
    /** Bytes to be dropped, from the farthest chunk on. */
    private long[] quotas = new long[INITIAL];

    /** Areas and candidates, to be sorted: the bits of positive floats are in the order of their values. */
    private long[] ranking = new long[INITIAL];

    void clear() {
        candidates.clear();
        count = 0;
    }

    /**
     * Adds a chunk; at most {@link #MOST} can be added.
     *
     * @param distance number of references until its next one; less than those added earlier
     * @param readAgain whether its container is read again in any case
     */
    void add(long container, int length, long distance, boolean readAgain) {
        if (count == distances.length) {
            grow();
        }
        int candidate = candidates.getOrDefault(container, candidates.size());
        if (candidate == candidates.size()) {
            candidates.put(container, candidate);
            bytes[candidate] = 0;
            bestAreas[candidate] = -1;
            quotas[candidate] = 0;
        }
        distances[count] = distance;
        candidateOf[count++] = candidate;
        bytes[candidate] += length;
        float area = (float) bytes[candidate] * distance * (readAgain ? READ_AGAIN : 1);
        if (area > bestAreas[candidate]) {
            bestAreas[candidate] = area;
            bestBytes[candidate] = bytes[candidate];
        }
    }

    /** Chooses chunks of {@code neededBytes} bytes, or of all bytes in the best areas if these are fewer. */
    void choose(long neededBytes) {
        for (int i = 0; i < candidates.size(); i++) {
            ranking[i] = (long) Float.floatToIntBits(bestAreas[i]) << Integer.SIZE | i;
        }
        Arrays.sort(ranking, 0, candidates.size());
        long needed = neededBytes;
        for (int i = candidates.size() - 1; i >= 0 && needed > 0; i--) {
            int candidate = (int) ranking[i];
            quotas[candidate] = Math.min(needed, bestBytes[candidate]);
            needed -= quotas[candidate];
        }
    }

    int count() {
        return count;
    }

    /**
     * Returns the distance of a chunk.
     *
     * @param chunk number of chunks that were added earlier
     */
    long distance(int chunk) {
        return distances[chunk];
    }

    /**
     * Returns whether a chunk is chosen, and subtracts its length from the bytes that its container has to free. To be
     * called in the order of adding, once for each chunk.
     */
    boolean take(int chunk, int length) {
        int candidate = candidateOf[chunk];
        boolean chosen = quotas[candidate] > 0;
        quotas[candidate] -= length;
        return chosen;
    }

    long heapBytes() {
        return candidates.ramBytesAllocated() + (long) distances.length * (5 * Long.BYTES + 2 * Integer.BYTES);
    }

    private void grow() {
        int length = 2 * count;
        distances = Arrays.copyOf(distances, length);
        candidateOf = Arrays.copyOf(candidateOf, length);
        bytes = Arrays.copyOf(bytes, length);
        bestAreas = Arrays.copyOf(bestAreas, length);
        bestBytes = Arrays.copyOf(bestBytes, length);
        quotas = Arrays.copyOf(quotas, length);
        ranking = Arrays.copyOf(ranking, length);
    }
}
