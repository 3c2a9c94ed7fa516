package org.opendedup.sar.restore;

import java.util.Arrays;

/** The latest requests of one kind: bytes and time of each. A bounded number; the oldest is forgotten first. For one thread. */
final class RequestSamples {
    /** Enough for a median that a third of outliers does not move; 2016 pairs. */
    static final int MAX_SAMPLES = 64;

    private final int[] bytes = new int[MAX_SAMPLES];
    private final long[] nanos = new long[MAX_SAMPLES];
    private int count;
    private int next;

    void add(int requestBytes, long requestNanos) {
        bytes[next] = requestBytes;
        nanos[next] = requestNanos;
        next = (next + 1) % MAX_SAMPLES;
        count = Math.min(MAX_SAMPLES, count + 1);
    }

    int count() {
        return count;
    }

    /** Takes pairs of samples. */
    interface PairVisitor {
        /** One sample has so many bytes more than the other, at least 1, and took so much longer, or shorter. */
        void pair(int moreBytes, long moreNanos);
    }

    void forEachPair(PairVisitor visitor) {
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < i; j++) {
                if (bytes[i] > bytes[j]) {
                    visitor.pair(bytes[i] - bytes[j], nanos[i] - nanos[j]);
                } else if (bytes[i] < bytes[j]) {
                    visitor.pair(bytes[j] - bytes[i], nanos[j] - nanos[i]);
                }
            }
        }
    }

    /** Median of what is left of the requests' times without the transfer of their bytes; there must be a sample. */
    double medianRest(double nanosPerByte) {
        double[] rests = new double[count];
        for (int i = 0; i < count; i++) {
            rests[i] = nanos[i] - bytes[i] * nanosPerByte;
        }
        Arrays.sort(rests);
        return rests[count / 2];
    }
}
