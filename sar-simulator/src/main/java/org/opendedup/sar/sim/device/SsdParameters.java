package org.opendedup.sar.sim.device;

/**
 * An SSD.
 *
 * @param readLatencyNanos of each read, before its transfer
 * @param writeLatencyNanos of each write, likewise
 * @param requestsAtOnce how many it serves side by side, each at its full rate
 */
public record SsdParameters(
        long capacityBytes,
        long readLatencyNanos,
        double readBytesPerSecond,
        long writeLatencyNanos,
        double writeBytesPerSecond,
        int requestsAtOnce,
        Power power) {}
