package org.opendedup.sar.restore.cache;

/**
 * Counts approximately, in a counting Bloom filter (lookahead paper §3.4, Fan et al., SIGCOMM '98). Several hash
 * functions each lead to a counter of few bits; a container's count is the least of its counters. Collisions make
 * counts too high. A counter stops at its highest value, but each reference that leaves the window still decrements it,
 * as the paper says. Counts are too low after that, until the window has no reference to any of the counter's
 * containers and the counter is 0 again.
 */
final class BloomReferences implements ContainerReferences {
    private static final int HASHES = 4;

    /** 4, 8 or 16, so that no counter crosses two words. */
    private final int counterBits;

    private final int highest;
    private final long[] words;
    private final int counterMask;

    /**
     * @param counters least number of counters; rounded up to a power of two
     * @param countsTo highest count that must be distinguishable from the next one: counters are wide enough for one
     *     more
     */
    BloomReferences(int counters, int countsTo) {
        counterBits = bitsFor(countsTo + 1);
        highest = (1 << counterBits) - 1;
        int rounded = Integer.highestOneBit(Math.max(Long.SIZE, counters) * 2 - 1);
        counterMask = rounded - 1;
        words = new long[rounded / (Long.SIZE / counterBits)];
    }

    private static int bitsFor(int count) {
        if (count >= 1 << 16) {
            throw new IllegalArgumentException("a counter of 16 bits can't count to " + count);
        }
        return count < 1 << 4 ? 4 : count < 1 << 8 ? 8 : 16;
    }

    int counterBits() {
        return counterBits;
    }

    @Override
    public void add(long container) {
        long hash = hash(container);
        for (int i = 0; i < HASHES; i++) {
            int counter = counter(hash, i);
            if (value(counter) < highest) {
                change(counter, 1);
            }
        }
    }

    @Override
    public void remove(long container) {
        long hash = hash(container);
        for (int i = 0; i < HASHES; i++) {
            int counter = counter(hash, i);
            // The counter is 0 already if it was at its highest value when some references were added.
            if (value(counter) > 0) {
                change(counter, -1);
            }
        }
    }

    @Override
    public int count(long container) {
        long hash = hash(container);
        int least = highest;
        for (int i = 0; i < HASHES; i++) {
            least = Math.min(least, value(counter(hash, i)));
        }
        return least;
    }

    @Override
    public long heapBytes() {
        return (long) words.length * Long.BYTES;
    }

    private int value(int counter) {
        return (int) (words[word(counter)] >>> shift(counter)) & highest;
    }

    private void change(int counter, int by) {
        words[word(counter)] += (long) by << shift(counter);
    }

    private int word(int counter) {
        return counter * counterBits / Long.SIZE;
    }

    private int shift(int counter) {
        return counter * counterBits % Long.SIZE;
    }

    /** Returns two hashes of 32 bits; the others are sums of them (Kirsch and Mitzenmacher, ESA 2006). */
    private static long hash(long container) {
        long mixed = container * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        return mixed ^ mixed >>> 32;
    }

    private int counter(long hash, int i) {
        return ((int) hash + i * ((int) (hash >>> 32) | 1)) & counterMask;
    }
}
