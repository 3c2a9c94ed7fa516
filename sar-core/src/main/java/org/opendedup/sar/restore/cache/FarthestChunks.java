package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import org.opendedup.sar.common.LongIntMap;

/**
 * Chooses what a {@link WantedChunksCache} gives up, among its chunks of farthest next reference, told from the farthest on.
 *
 * <p>A container whose chunks are given up from some reference on is read again at that reference, which brings all of them back. So
 * each container is worth the greatest <em>area</em> over its references in question: bytes given up × references until the read,
 * memory freed times the time it is free. A container that is read again in any case costs less, and counts {@value #READ_AGAIN}
 * times. Those of the greatest areas are chosen, of the last one no more than needed. (Belady's rule for chunks, the farthest first,
 * breaks up many containers where few do: see docs/RESTORE.md.)
 */
final class FarthestChunks {
    /** Chunks that are looked at, so that a choice takes some ten microseconds, however large the memory. Measured: 1000 do. */
    static final int MOST = 2048;

    /** Measured: 2 to 4 are the same, 1 is worse by 1 to 2 %. */
    private static final int READ_AGAIN = 2;

    private static final int INITIAL = 64;

    // By chunk.
    private long[] distances = new long[INITIAL];
    private int[] candidateOf = new int[INITIAL];
    private int count;

    // By candidate: a container.
    private final LongIntMap candidates = new LongIntMap();
    private long[] bytes = new long[INITIAL];
    private float[] bestAreas = new float[INITIAL];
    private long[] bestBytes = new long[INITIAL];
    /** The bytes that are to be given up, from the farthest on. */
    private long[] quotas = new long[INITIAL];

    /** Areas and candidates, to be sorted: the bits of positive floats are in the order of their values. */
    private long[] ranking = new long[INITIAL];

    void clear() {
        candidates.clear();
        count = 0;
    }

    /**
     * Adds a chunk; there is room for {@link #MOST}.
     *
     * @param distance references until its next one; less than those added before
     * @param readAgain whether its container is read again in any case
     */
    void add(long container, int length, long distance, boolean readAgain) {
        if (count == distances.length) {
            grow();
        }
        int candidate = candidates.get(container);
        if (candidate == LongIntMap.ABSENT) {
            candidate = candidates.size();
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

    /** Chooses as many bytes, or all that the best of each container give. */
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

    /** The distance of a chunk, by the number of chunks that were added before it. */
    long distance(int chunk) {
        return distances[chunk];
    }

    /** Takes a chunk off what its container is to give; whether there was anything left to give. In the order of adding, each once. */
    boolean take(int chunk, int length) {
        int candidate = candidateOf[chunk];
        boolean chosen = quotas[candidate] > 0;
        quotas[candidate] -= length;
        return chosen;
    }

    long heapBytes() {
        return candidates.heapBytes() + (long) distances.length * (5 * Long.BYTES + 2 * Integer.BYTES);
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
