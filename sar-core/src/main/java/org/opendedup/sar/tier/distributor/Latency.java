package org.opendedup.sar.tier.distributor;

/**
 * A distribution of response times, in microseconds, since the volume was opened.
 *
 * @param reads number of reads
 */
public record Latency(
        long reads,
        double meanMicros,
        long p50Micros,
        long p95Micros,
        long p99Micros,
        long p999Micros,
        long maxMicros) {
    public static final Latency NONE = new Latency(0, 0, 0, 0, 0, 0, 0);
}
