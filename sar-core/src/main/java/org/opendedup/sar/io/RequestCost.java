package org.opendedup.sar.io;

/**
 * What a request to an object store costs, of which many run at the same time.
 *
 * @param latencyNanos time to its first byte, in nanoseconds
 * @param laneBytesPerSecond rate of one request after its first byte, beside the others, in bytes a second
 * @param lanes requests at the same time
 * @param isMeasured whether latency and rate are of the requests that were made; else they are assumed
 */
public record RequestCost(long latencyNanos, long laneBytesPerSecond, int lanes, boolean isMeasured) {
    public RequestCost {
        if (latencyNanos < 0 || laneBytesPerSecond < 1 || lanes < 1) {
            throw new IllegalArgumentException(
                    "a request takes 0 ns or more, 1 byte a second or more, in 1 lane or more," + " not " + latencyNanos
                            + ", " + laneBytesPerSecond + " and " + lanes);
        }
    }
}
