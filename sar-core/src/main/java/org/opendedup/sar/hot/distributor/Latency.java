package org.opendedup.sar.hot.distributor;

import org.opendedup.sar.common.Figure;

/** A distribution of response times, in microseconds, since the volume was opened. */
public record Latency(
        @Figure(value = "Number of %s that the latencies count", unit = "reads")
        long reads,

        @Figure(value = "Mean response time of %s", unit = "microseconds")
        double meanMicros,

        @Figure(value = "Response time that half of the %s did not exceed", unit = "microseconds")
        long p50Micros,

        @Figure(value = "Response time that 95 % of the %s did not exceed", unit = "microseconds")
        long p95Micros,

        @Figure(value = "Response time that 99 % of the %s did not exceed", unit = "microseconds")
        long p99Micros,

        @Figure(value = "Response time that 99.9 % of the %s did not exceed", unit = "microseconds")
        long p999Micros,

        @Figure(value = "Longest response time of %s", unit = "microseconds")
        long maxMicros) {
    public static final Latency NONE = new Latency(0, 0, 0, 0, 0, 0, 0);
}
