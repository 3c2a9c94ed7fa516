package org.opendedup.sar.common;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts durations in buckets with fixed bounds, for a histogram of Prometheus. Recording takes no lock and allocates
 * nothing: it adds to two cells of a stripe, which few threads share. Takes 1.5 KB. Safe for use by many threads.
 */
public final class LatencyBuckets {
    /** Upper bounds of the buckets, in microseconds. From a read in memory to a disk that hangs; 1, 2.5, 5 a decade. */
    private static final List<Long> BOUNDS_MICROS = List.of(
            10L,
            25L,
            50L,
            100L,
            250L,
            500L,
            1_000L,
            2_500L,
            5_000L,
            10_000L,
            25_000L,
            50_000L,
            100_000L,
            250_000L,
            500_000L,
            1_000_000L,
            2_500_000L,
            5_000_000L,
            10_000_000L,
            30_000_000L);

    private static final int BUCKETS = BOUNDS_MICROS.size() + 1;
    private static final int NANOS_PER_MICRO = 1000;

    /** A power of two. By default as many threads serve requests. */
    private static final int STRIPES = 8;

    /** Cells of a stripe: the buckets, the sum, and unused ones up to a whole number of cache lines. */
    private static final int ROW = 24;

    private final AtomicLongArray cells = new AtomicLongArray(STRIPES * ROW);
    /** A copy, because looking into an array is faster than into a list. */
    private final long[] boundsNanos =
            BOUNDS_MICROS.stream().mapToLong(micros -> micros * NANOS_PER_MICRO).toArray();

    /**
     * What was counted until one moment.
     *
     * @param counts number of durations in each bucket, those of the buckets below not included; the last one has those
     *     above all bounds
     * @param sumNanos sum of the durations, in nanoseconds
     */
    public record Counts(List<Long> counts, long sumNanos) {
        /** Returns the number of all durations. */
        public long total() {
            return counts.stream().mapToLong(Long::longValue).sum();
        }

        /** Returns the mean of the durations, in microseconds; 0 if there are none. */
        public double meanMicros() {
            long total = total();
            return total == 0 ? 0 : (double) sumNanos / total / NANOS_PER_MICRO;
        }
    }

    /** Returns the upper bounds of all buckets but the last, in microseconds; a bound is in its bucket. */
    public static List<Long> boundsMicros() {
        return BOUNDS_MICROS;
    }

    /** @param nanos a duration, in nanoseconds; a negative one counts as 0 */
    public void record(long nanos) {
        long duration = Math.max(0, nanos);
        int bucket = 0;
        while (bucket < boundsNanos.length && duration > boundsNanos[bucket]) {
            bucket++;
        }
        int row = ((int) Thread.currentThread().getId() & STRIPES - 1) * ROW;
        cells.getAndAdd(row + bucket, 1);
        cells.getAndAdd(row + BUCKETS, duration);
    }

    public Counts counts() {
        List<Long> counts = new ArrayList<>();
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            counts.add(sum(bucket));
        }
        return new Counts(List.copyOf(counts), sum(BUCKETS));
    }

    private long sum(int cell) {
        long sum = 0;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            sum += cells.get(stripe * ROW + cell);
        }
        return sum;
    }
}
