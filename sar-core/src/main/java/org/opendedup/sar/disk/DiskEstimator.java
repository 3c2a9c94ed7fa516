package org.opendedup.sar.disk;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * Learns what reading costs from the times of requests: each takes the time of its {@linkplain Kind kind}, and the
 * transfer time of its bytes. The rate is the median slope between small and large requests of one kind (Theil–Sen
 * regression). The time of a kind is the median of the remaining time of small requests. So a quarter of the requests
 * may be outliers. If all requests are of about one size, their time cannot be divided, and nothing is learned. Memory
 * and time are bounded: from time to time the latest {@value RequestSamples#MAX_OF_SIZE} small and large requests of
 * each kind are used. For one thread.
 */
final class DiskEstimator {
    /** Position of a request relative to the previous one. */
    enum Kind {
        /** Begins where the previous one ended. */
        CONTINUES,
        /** Begins after the end of the previous one, and not far from it. */
        SKIPS,
        /** In another file, far after the end of the previous one, or before it. */
        SEEKS
    }

    /** Least number of small requests of a kind for an estimate of its time. */
    private static final int MIN_SMALL = 8;
    /** Least number of pairs for an estimate of the rate. */
    private static final int MIN_PAIRS = 100;
    /** New requests between two estimates; an estimate takes about 0.2 ms. */
    private static final int SAMPLES_BETWEEN_ESTIMATES = 16;
    /** No device is faster: 100 GB/s. */
    private static final double MIN_NANOS_PER_BYTE = 0.01;

    private final DiskModel assumed;
    private final Map<Kind, RequestSamples> samples = new EnumMap<>(Kind.class);
    private final double[] slopes = new double[3 * RequestSamples.MAX_OF_SIZE * RequestSamples.MAX_OF_SIZE];
    private int newSamples;
    private DiskModel model;

    /** @param assumed model that holds until enough is measured */
    DiskEstimator(DiskModel assumed) {
        this.assumed = assumed;
        model = assumed;
        for (Kind kind : Kind.values()) {
            samples.put(kind, new RequestSamples());
        }
    }

    DiskModel model() {
        return model;
    }

    /**
     * Adds a request.
     *
     * @param bytes bytes read; they were read from the device, which had no other reader meanwhile
     * @param nanos time of the request, in nanoseconds
     */
    void add(Kind kind, int bytes, long nanos) {
        of(kind).add(bytes, nanos);
        if (++newSamples >= SAMPLES_BETWEEN_ESTIMATES) {
            newSamples = 0;
            estimate();
        }
    }

    private RequestSamples of(Kind kind) {
        RequestSamples found = samples.get(kind);
        if (found == null) {
            throw new AssertionError(kind);
        }
        return found;
    }

    private void estimate() {
        double nanosPerByte = nanosPerByte();
        boolean knowsSkip = of(Kind.SKIPS).small() >= MIN_SMALL;
        boolean knowsSeek = of(Kind.SEEKS).small() >= MIN_SMALL;
        if (Double.isNaN(nanosPerByte) || !(knowsSkip || knowsSeek)) {
            return;
        }
        // If only one of the two is known, the other is derived with the ratio of the assumed model.
        double ratio = (double) assumed.skipNanos() / Math.max(1, assumed.seekNanos());
        double skip = knowsSkip
                ? of(Kind.SKIPS).medianRest(nanosPerByte)
                : of(Kind.SEEKS).medianRest(nanosPerByte) * ratio;
        double seek = knowsSeek ? of(Kind.SEEKS).medianRest(nanosPerByte) : skip / ratio;
        model = new DiskModel(
                Math.max(0, Math.round(skip)),
                Math.max(0, Math.round(seek)),
                Math.round(1e9 / nanosPerByte),
                DiskModel.Source.MEASURED);
    }

    /** Returns the nanoseconds a byte; NaN if not enough is known. */
    private double nanosPerByte() {
        int[] count = {0};
        for (RequestSamples each : samples.values()) {
            each.forEachSlope(slope -> slopes[count[0]++] = slope);
        }
        if (count[0] < MIN_PAIRS) {
            return Double.NaN;
        }
        Arrays.sort(slopes, 0, count[0]);
        return Math.max(MIN_NANOS_PER_BYTE, slopes[count[0] / 2]);
    }
}
