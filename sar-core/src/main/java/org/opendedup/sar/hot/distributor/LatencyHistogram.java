package org.opendedup.sar.hot.distributor;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * A histogram of response times, in a fixed 20 KB: microseconds up to one minute, with two significant digits. Safe for
 * use by many threads.
 */
final class LatencyHistogram {
    private static final long MOST_MICROS = TimeUnit.MINUTES.toMicros(1);

    private final ConcurrentHistogram micros = new ConcurrentHistogram(MOST_MICROS, 2);

    void record(long nanos) {
        micros.recordValue(Math.min(MOST_MICROS, Math.max(0, TimeUnit.NANOSECONDS.toMicros(nanos))));
    }

    Latency latency() {
        Histogram now = micros.copy();
        if (now.getTotalCount() == 0) {
            return Latency.NONE;
        }
        return new Latency(
                now.getTotalCount(),
                now.getMean(),
                now.getValueAtPercentile(50),
                now.getValueAtPercentile(95),
                now.getValueAtPercentile(99),
                now.getValueAtPercentile(99.9),
                now.getMaxValue());
    }
}
