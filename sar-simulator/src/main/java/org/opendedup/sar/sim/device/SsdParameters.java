package org.opendedup.sar.sim.device;

/**
 * Parameters of an SSD.
 *
 * @param readLatencyNanos latency of each read, ahead of its transfer, in nanoseconds
 * @param writeLatencyNanos latency of each write, likewise
 * @param requestsAtOnce number of requests that it serves in parallel, each at its full rate
 */
public record SsdParameters(
        long capacityBytes,
        long readLatencyNanos,
        double readBytesPerSecond,
        long writeLatencyNanos,
        double writeBytesPerSecond,
        int requestsAtOnce,
        Power power) {}
