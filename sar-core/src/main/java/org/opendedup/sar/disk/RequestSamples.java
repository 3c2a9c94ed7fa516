package org.opendedup.sar.disk;

import java.util.Arrays;
import java.util.function.DoubleConsumer;

/**
 * The latest requests of one kind, with bytes and time of each. Small requests take mostly the time to reach their
 * first byte, large requests mostly the transfer time. A bounded number of both is kept; the oldest is dropped first.
 * For one thread.
 */
final class RequestSamples {
    /** Largest small request, in bytes: transferred in 3.5 ms at 150 MB/s; a hard disk takes longer to reach it. */
    static final int SMALL_BYTES = 512 << 10;

    static final int LARGE_BYTES = 1 << 20;
    /** Most samples of each size: enough for a median that is not changed by a third of outliers. */
    static final int MAX_OF_SIZE = 32;

    private final Ring small = new Ring();
    private final Ring large = new Ring();

    /** The latest requests of one size. */
    private static final class Ring {
        private final int[] bytes = new int[MAX_OF_SIZE];
        private final long[] nanos = new long[MAX_OF_SIZE];
        private int count;
        private int next;

        void add(int requestBytes, long requestNanos) {
            bytes[next] = requestBytes;
            nanos[next] = requestNanos;
            next = (next + 1) % MAX_OF_SIZE;
            count = Math.min(MAX_OF_SIZE, count + 1);
        }
    }

    /** Adds a request; ignores one between small and large, which says little. */
    void add(int bytes, long nanos) {
        if (bytes <= SMALL_BYTES) {
            small.add(bytes, nanos);
        } else if (bytes >= LARGE_BYTES) {
            large.add(bytes, nanos);
        }
    }

    /** Number of small requests that are known. */
    int small() {
        return small.count;
    }

    /** Passes on, for each pair of a large and a small request, the additional nanoseconds for each additional byte. */
    void forEachSlope(DoubleConsumer slopes) {
        for (int i = 0; i < large.count; i++) {
            for (int j = 0; j < small.count; j++) {
                slopes.accept((double) (large.nanos[i] - small.nanos[j]) / (large.bytes[i] - small.bytes[j]));
            }
        }
    }

    /**
     * Returns the median time of small requests without the transfer of their bytes, in nanoseconds; there must be one.
     */
    double medianRest(double nanosPerByte) {
        double[] rests = new double[small.count];
        for (int i = 0; i < rests.length; i++) {
            rests[i] = small.nanos[i] - small.bytes[i] * nanosPerByte;
        }
        Arrays.sort(rests);
        return rests[rests.length / 2];
    }
}
