package org.opendedup.sar.sim.sar;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Response times, from a request's arrival to its end. Three digits are kept of each, the mean is exact. For one
 * thread.
 */
final class Responses {
    private static final long MOST_NANOS = 86_400_000_000_000L;
    private static final int DIGITS = 3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final List<Double> PERCENTS = List.of(
            1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 100.0);

    private final Histogram histogram = new Histogram(MOST_NANOS, DIGITS);
    private double sumNanos;

    void add(long nanos) {
        histogram.recordValue(Math.min(MOST_NANOS, nanos));
        sumNanos += nanos;
    }

    /** Summary of the response times, in milliseconds. */
    record Summary(
            long requests,
            double meanMs,
            double p50Ms,
            double p90Ms,
            double p95Ms,
            double p99Ms,
            double p999Ms,
            double maxMs) {}

    /** The response that a percentage of the requests did not exceed. */
    record Quantile(double percent, double ms) {}

    /** Returns the distribution, at each of {@link #PERCENTS}; empty without requests. */
    List<Quantile> quantiles() {
        return histogram.getTotalCount() == 0
                ? List.of()
                : PERCENTS.stream()
                        .map(percent -> new Quantile(percent, millis(percent)))
                        .toList();
    }

    Summary summary() {
        long requests = histogram.getTotalCount();
        return new Summary(
                requests,
                requests == 0 ? 0 : sumNanos / requests / NANOS_PER_MILLI,
                millis(50),
                millis(90),
                millis(95),
                millis(99),
                millis(99.9),
                millis(100));
    }

    private double millis(double percentile) {
        return histogram.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
    }
}
