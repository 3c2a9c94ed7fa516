package org.opendedup.sar.s3;

import java.time.Duration;

/**
 * How long a request may take.
 *
 * @param connect to connect
 * @param silence without a byte
 * @param whole for all of it; as much again for each further {@value #WHOLE_BYTES} bytes that it sends
 */
record TimeLimits(Duration connect, Duration silence, Duration whole) {
    static final TimeLimits DEFAULT =
            new TimeLimits(Duration.ofSeconds(5), Duration.ofSeconds(15), Duration.ofSeconds(60));

    /** So with 60 s, the four packs of 64 MiB that are put at the same time need a line with 2.2 MB/s. */
    private static final int WHOLE_BYTES = 32 << 20;

    /** Returns how long a request may take that sends so many bytes. */
    Duration toSend(long bytes) {
        return whole.multipliedBy(1 + Math.max(0, bytes - 1) / WHOLE_BYTES);
    }
}
