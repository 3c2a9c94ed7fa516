package org.opendedup.sar.restore;

import java.util.Arrays;
import java.util.function.DoubleConsumer;

/**
 * The latest requests of one kind, bytes and time of each: small ones, whose time is mostly that of getting there, and large ones,
 * whose time is mostly that of their bytes. A bounded number of both; the oldest is forgotten first. For one thread.
 */
final class RequestSamples {
    /** Transferred in 3.5 ms at 150 MB/s; a hard disk takes longer to get there. */
    static final int SMALL_BYTES = 512 << 10;

    static final int LARGE_BYTES = 1 << 20;
    /** Enough for a median that a third of outliers does not move. */
    static final int MAX_OF_SIZE = 32;

    private final Ring small = new Ring();
    private final Ring large = new Ring();

    /** The last of one size. */
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

    /** Takes a request; one between small and large tells little. */
    void add(int bytes, long nanos) {
        if (bytes <= SMALL_BYTES) {
            small.add(bytes, nanos);
        } else if (bytes >= LARGE_BYTES) {
            large.add(bytes, nanos);
        }
    }

    /** Small requests that are known. */
    int small() {
        return small.count;
    }

    /** Gives the nanoseconds a byte by which each large request took longer than each small one. */
    void forEachSlope(DoubleConsumer slopes) {
        for (int i = 0; i < large.count; i++) {
            for (int j = 0; j < small.count; j++) {
                slopes.accept((double) (large.nanos[i] - small.nanos[j]) / (large.bytes[i] - small.bytes[j]));
            }
        }
    }

    /** Median of what small requests took without the transfer of their bytes; there must be one. */
    double medianRest(double nanosPerByte) {
        double[] rests = new double[small.count];
        for (int i = 0; i < rests.length; i++) {
            rests[i] = small.nanos[i] - small.bytes[i] * nanosPerByte;
        }
        Arrays.sort(rests);
        return rests[rests.length / 2];
    }
}
