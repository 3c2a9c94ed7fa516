package org.opendedup.sar.restore;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * Learns what reading costs from the times of requests: each takes the time of its {@linkplain Kind kind}, and that of its bytes. The
 * rate is the median slope between small and large requests of one kind (as Theil and Sen's regression has it), the time of a kind the
 * median of what remains of small ones; so a quarter of the requests may be outliers. Where all requests are of about one size, what they
 * take can't be divided, and nothing is learned. Memory and time are bounded: the latest {@value RequestSamples#MAX_OF_SIZE} small and
 * large requests of each kind are looked at, now and then. For one thread.
 */
final class StorageEstimator {
    /** How a request lies to the one before it. */
    enum Kind {
        /** It begins where that one ended. */
        CONTINUES,
        /** Further on in the same container. */
        SKIPS,
        /** In another container, or further back. */
        SEEKS
    }

    /** Small requests of a kind from which on its time is believed. */
    private static final int MIN_SMALL = 8;
    /** Pairs from which on the rate is believed. */
    private static final int MIN_PAIRS = 100;
    /** New requests between two estimates, which take some 0.2 ms each. */
    private static final int SAMPLES_BETWEEN_ESTIMATES = 16;
    /** No device is faster: 100 GB/s. */
    private static final double MIN_NANOS_PER_BYTE = 0.01;

    private final StorageModel assumed;
    private final Map<Kind, RequestSamples> samples = new EnumMap<>(Kind.class);
    private final double[] slopes = new double[3 * RequestSamples.MAX_OF_SIZE * RequestSamples.MAX_OF_SIZE];
    private int newSamples;
    private StorageModel model;

    /** @param assumed holds until enough is measured */
    StorageEstimator(StorageModel assumed) {
        this.assumed = assumed;
        model = assumed;
        for (Kind kind : Kind.values()) {
            samples.put(kind, new RequestSamples());
        }
    }

    StorageModel model() {
        return model;
    }

    /** A request for so many bytes took so long; it had the device for itself, and its bytes came from there. */
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
        // Where one of both is not known yet, it is to the other as it was assumed to be.
        double ratio = (double) assumed.skipNanos() / Math.max(1, assumed.seekNanos());
        double skip = knowsSkip
                ? of(Kind.SKIPS).medianRest(nanosPerByte)
                : of(Kind.SEEKS).medianRest(nanosPerByte) * ratio;
        double seek = knowsSeek ? of(Kind.SEEKS).medianRest(nanosPerByte) : skip / ratio;
        model = new StorageModel(
                Math.max(0, Math.round(skip)),
                Math.max(0, Math.round(seek)),
                Math.round(1e9 / nanosPerByte),
                StorageModel.Source.MEASURED);
    }

    /** NaN: not enough is known. */
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
