package org.opendedup.sar.chunk;

/**
 * Cuts content-defined chunks of 2 to 64 KiB, about 8 KiB on average, by FastCDC (Xia et al., "FastCDC: a Fast and
 * Efficient Content-Defined Chunking Approach for Data Deduplication", USENIX ATC 2016, and IEEE TPDS 2020 for two
 * bytes a step).
 *
 * <p>A boundary lies after the byte at which the Gear hash {@code h = 2 h + gear[byte]} has zeros under a mask. The
 * hash is computed from the chunk's minimum length on. Normalized chunking, level 2: up to the average length the mask
 * has two bits more than the average requires, after it two bits fewer. This moves lengths towards the average, and
 * skipping the minimum length costs little deduplication.
 *
 * <p>The boundaries are part of the stored format: other masks, limits or gear values would find no duplicates among
 * chunks that were cut with these. So all of them are frozen. An encrypted volume has gear values of its own.
 */
final class FastCdcChunker implements Chunker {
    private static final int MIN_BYTES = 2 << 10;
    private static final int AVERAGE_BYTES = 8 << 10;
    private static final int MAX_BYTES = LONGEST_BYTES;

    private static final int AVERAGE_BITS = Integer.numberOfTrailingZeros(AVERAGE_BYTES);
    private static final int NORMALIZATION_LEVEL = 2;

    private static final long MASK_BELOW_AVERAGE = mask(AVERAGE_BITS + NORMALIZATION_LEVEL);
    private static final long MASK_ABOVE_AVERAGE = mask(AVERAGE_BITS - NORMALIZATION_LEVEL);

    private final long[] gear;
    private final long[] gearTwice;

    /** @param gear a random value for each byte */
    FastCdcChunker(long[] gear) {
        this.gear = gear;
        gearTwice = Gear.shifted(gear, 1);
    }

    /**
     * Returns a mask of {@code bits} bits directly below the highest bit of the hash. High bits depend on the most
     * bytes (at least the last 48). The highest bit stays clear so that the mask can also be shifted left by one, for
     * the first byte of a step.
     */
    private static long mask(int bits) {
        return ((1L << bits) - 1) << (Long.SIZE - 1 - bits);
    }

    @Override
    public int maxChunkBytes() {
        return MAX_BYTES;
    }

    @Override
    public int cut(byte[] data, int from, int to, boolean end) {
        long[] ones = gear;
        long[] twos = gearTwice;
        int available = Math.min(to - from, MAX_BYTES);
        if (available <= MIN_BYTES) {
            return end ? available : 0;
        }
        int limit = from + available;
        int stop = Math.min(from + AVERAGE_BYTES, limit);
        long mask = MASK_BELOW_AVERAGE;
        long hash = 0;
        int i = from + MIN_BYTES;
        while (true) {
            // Two bytes per step, as in TPDS 2020: 2 (2 h + g0) + g1 = 4 h + 2 g0 + g1. The hash between the two bytes
            // is tested in its doubled form, under the doubled mask.
            for (; i + 1 < stop; i += 2) {
                long doubled = (hash << 2) + twos[data[i] & 0xff];
                if ((doubled & (mask << 1)) == 0) {
                    return i + 1 - from;
                }
                hash = doubled + ones[data[i + 1] & 0xff];
                if ((hash & mask) == 0) {
                    return i + 2 - from;
                }
            }
            if (stop == limit) {
                return available == MAX_BYTES || end ? available : 0;
            }
            stop = limit;
            mask = MASK_ABOVE_AVERAGE;
        }
    }
}
