package org.opendedup.sar.sim.estimate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.sim.block.Mixing;

/**
 * A sample of the different chunks, with the references to each: of all fingerprints those whose hash ends in {@code k}
 * zero bits. Whether a chunk is in the sample depends only on its content, so a chunk of the sample is seen at every
 * place where it occurs. So the numbers of different chunks and of their references have no bias, unlike those of a
 * sample of places. When memory is full, {@code k} rises by one, and half of the chunks are removed. (Distinct
 * sampling: Gibbons, VLDB '01. For capacities of deduplicated volumes: Harnik, Khaitzin and Sotnikov, "Estimating
 * Unseen Deduplication — from Theory to Practice", FAST '16.) With {@code k = 0} all chunks are in it, and its numbers
 * are exact.
 *
 * <p>Open addressing in primitive arrays. For one thread.
 */
final class ChunkSample {
    /** Bytes of a chunk's place: hash 8, home 4, length 4, count 4. */
    private static final int PLACE_BYTES = Long.BYTES + 3 * Integer.BYTES;
    /**
     * Peak memory, as a multiple of the table. While the table grows or is thinned, the old places, or those that stay,
     * exist at the same time as the new table: half as many at most.
     */
    private static final double PEAK = 1.5;

    private static final double MAX_LOAD = 0.75;
    private static final int MIN_PLACES = 1 << 6;
    private static final int FIRST_PLACES = 1 << 16;

    static final int NONE = -1;

    private final long seed;
    private final int maxPlaces;

    private long[] hashes;
    private int[] homes;
    private int[] lengths;
    /** References to the chunk; 0 if the place is free. */
    private int[] counts;

    private int size;
    /** The k of the class comment. */
    private int level;

    /**
     * Makes an empty sample.
     *
     * @param memoryBytes most bytes that it may use
     * @param seed selects one of the possible samples
     */
    ChunkSample(long memoryBytes, long seed) {
        this.seed = Mixing.mix(seed);
        int most = (int) Math.max(MIN_PLACES, Math.min(1 << 30, (long) (memoryBytes / (PLACE_BYTES * PEAK))));
        int doublings = Math.max(0, Integer.numberOfLeadingZeros(FIRST_PLACES) - Integer.numberOfLeadingZeros(most));
        maxPlaces = most >> doublings << doublings;
        allocate(most >> doublings);
    }

    private void allocate(int places) {
        hashes = new long[places];
        homes = new int[places];
        lengths = new int[places];
        counts = new int[places];
    }

    /** Returns the hash of a fingerprint; different fingerprints have different hashes. */
    long hash(long fingerprint) {
        return Mixing.mix(fingerprint ^ seed);
    }

    /** Returns whether chunks with this hash are in the sample if they occur. */
    boolean covers(long hash) {
        return (hash & ((1L << level) - 1)) == 0;
    }

    /** Returns the share of all different chunks that the sample covers: 2 to the power of -k. */
    double share() {
        return 1.0 / (1L << level);
    }

    /** Counts one more reference to a covered chunk. Returns its home, or {@link #NONE} if it is new. */
    int refer(long hash) {
        int place = placeOf(hash);
        if (counts[place] == 0) {
            return NONE;
        }
        counts[place] += counts[place] < Integer.MAX_VALUE ? 1 : 0;
        return homes[place];
    }

    /** Adds a covered chunk that is new. This may halve the sample, and remove the chunk again. */
    void add(long hash, int length, int home) {
        put(hash, length, home, 1);
        size++;
        while (size > MAX_LOAD * counts.length) {
            if (counts.length < maxPlaces) {
                rebuild(counts.length * 2);
            } else {
                level++;
                rebuild(counts.length);
            }
        }
    }

    private void put(long hash, int length, int home, int count) {
        int place = placeOf(hash);
        hashes[place] = hash;
        lengths[place] = length;
        homes[place] = home;
        counts[place] = count;
    }

    private int placeOf(long hash) {
        int place = (int) (((hash >>> 32) * hashes.length) >>> 32);
        while (counts[place] != 0 && hashes[place] != hash) {
            place = place + 1 == hashes.length ? 0 : place + 1;
        }
        return place;
    }

    /** Moves the chunks that are still covered into a table of {@code places} places. */
    private void rebuild(int places) {
        int kept = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0 && covers(hashes[i])) {
                hashes[kept] = hashes[i];
                lengths[kept] = lengths[i];
                homes[kept] = homes[i];
                counts[kept++] = counts[i];
            }
        }
        long[] keptHashes = Arrays.copyOf(hashes, kept);
        int[] keptLengths = Arrays.copyOf(lengths, kept);
        int[] keptHomes = Arrays.copyOf(homes, kept);
        int[] keptCounts = Arrays.copyOf(counts, kept);
        if (places == counts.length) {
            Arrays.fill(counts, 0);
        } else {
            allocate(places);
        }
        for (int i = 0; i < kept; i++) {
            put(keptHashes[i], keptLengths[i], keptHomes[i], keptCounts[i]);
        }
        size = kept;
    }

    /** Returns the number of chunks in the sample. */
    int size() {
        return size;
    }

    /** Returns the chunks of the sample by number of references, ascending. */
    List<CountClass> classes() {
        Map<Integer, CountClass> classes = new TreeMap<>();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0) {
                classes.computeIfAbsent(counts[i], CountClass::new).add(lengths[i]);
            }
        }
        return new ArrayList<>(classes.values());
    }

    /** Sums over the chunks of the sample that have the same number of references. */
    static final class CountClass {
        private final int count;
        private long chunks;
        private long bytes;
        private double squares;

        CountClass(int count) {
            this.count = count;
        }

        private void add(int length) {
            chunks++;
            bytes += length;
            squares += (double) length * length;
        }

        /** Returns the references to each of the chunks. */
        int count() {
            return count;
        }

        long chunks() {
            return chunks;
        }

        /** Returns the bytes of the chunks, each counted once. */
        long bytes() {
            return bytes;
        }

        /** Returns the sum of the squares of their lengths. */
        double squares() {
            return squares;
        }
    }
}
