package org.opendedup.sar.sim.estimate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A sample of the different chunks, each with how often it was met: of all fingerprints those whose hash ends in {@code k} zero bits.
 * Whether a chunk is in it depends on its content alone, so a chunk of the sample is seen at every place where it occurs, and numbers of
 * different chunks and of their references have no bias, which a sample of places would have. When memory is full, {@code k} rises by one, and
 * half of the chunks leave. (Distinct sampling: Gibbons, VLDB '01. For capacities of deduplicated volumes: Harnik, Khaitzin and Sotnikov,
 * "Estimating Unseen Deduplication — from Theory to Practice", FAST '16.) With {@code k = 0} all is in it, and its numbers are exact.
 *
 * <p>Open addressing in primitive arrays. For one thread.
 */
final class ChunkSample {
    /** Of a chunk's place: hash 8, home 4, length 4, count 4. */
    private static final int PLACE_BYTES = Long.BYTES + 3 * Integer.BYTES;
    /** While the table grows or is thinned, the old places, or those that stay, are there beside it: half as many at most. */
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
    /** 0 where the place is free. */
    private int[] counts;

    private int size;
    /** k. */
    private int level;

    /**
     * @param memoryBytes what it may take
     * @param seed which of the samples it is
     */
    ChunkSample(long memoryBytes, long seed) {
        this.seed = mix(seed);
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

    /** What the sample knows a fingerprint by; different ones have different hashes. */
    long hash(long fingerprint) {
        return mix(fingerprint ^ seed);
    }

    /** The finalizer of SplitMix (Steele, Lea and Flood, OOPSLA 2014). */
    private static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    /** Whether chunks of this hash are in the sample once they were met. */
    boolean covers(long hash) {
        return (hash & ((1L << level) - 1)) == 0;
    }

    /** The share of all different chunks that the sample covers: 2 to the power of -k. */
    double share() {
        return 1.0 / (1L << level);
    }

    /** Counts one more reference to a chunk that is covered; its home, or {@link #NONE} if it was not met before. */
    int refer(long hash) {
        int place = placeOf(hash);
        if (counts[place] == 0) {
            return NONE;
        }
        counts[place] += counts[place] < Integer.MAX_VALUE ? 1 : 0;
        return homes[place];
    }

    /** Adds a chunk that is covered and was not met before; may halve the sample, and the chunk leave again. */
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

    /** Puts what is still covered into a table of so many places. */
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

    /** Chunks in the sample. */
    int size() {
        return size;
    }

    /** The chunks of the sample by how often they were met, rising. */
    List<CountClass> classes() {
        Map<Integer, CountClass> classes = new TreeMap<>();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0) {
                classes.computeIfAbsent(counts[i], CountClass::new).add(lengths[i]);
            }
        }
        return new ArrayList<>(classes.values());
    }

    /** Sums over the chunks of the sample that have one count of references. */
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

        /** References to each of them. */
        int count() {
            return count;
        }

        long chunks() {
            return chunks;
        }

        /** Of the chunks, each once. */
        long bytes() {
            return bytes;
        }

        /** Sum of the squares of their lengths. */
        double squares() {
            return squares;
        }
    }
}
