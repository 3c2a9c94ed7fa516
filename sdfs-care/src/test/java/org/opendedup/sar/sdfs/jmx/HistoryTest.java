package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryTest {
    private long value;
    private boolean fails;
    private final MinuteClock clock = new MinuteClock();
    private final RecordBean volume = new RecordBean("a volume")
            .attribute(long.class, "StoredBytes", "Bytes (compressed) of it", "bytes", this::value)
            .attribute(double.class, "Mean", "A mean", "microseconds", () -> 2.6);
    private final History history =
            new History(List.of(new History.Series(volume, "StoredBytes"), new History.Series(volume, "Mean")), clock);

    /** A minute passes with each look. */
    private static final class MinuteClock extends Clock {
        private long minutes;

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new AssertionError("not asked");
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochSecond(60 * minutes++);
        }
    }

    private long value() {
        if (fails) {
            throw new IllegalStateException("no figures");
        }
        return value;
    }

    private long[] get(String attribute) throws Exception {
        return (long[]) history.bean().getAttribute(attribute);
    }

    @Test
    void aDayIsKeptInArraysOfAFixedLength() throws Exception {
        assertArrayEquals(new long[0], get("StoredBytes"));
        for (value = 0; value < History.SAMPLES_MAX + 5; value++) {
            history.sample();
        }
        long[] samples = get("StoredBytes");
        assertEquals(24 * 60, samples.length);
        assertEquals(5, samples[0], "the oldest are gone");
        assertEquals(value - 1, samples[samples.length - 1]);
        long[] times = get("Times");
        assertEquals(samples.length, times.length);
        assertEquals(60_000L * samples[0], times[0]);
        assertEquals(60_000L * (value - 1), times[times.length - 1]);
        assertEquals(2.6, ((double[]) history.bean().getAttribute("Mean"))[0], "a mean keeps its fraction");
        assertEquals(
                "Bytes (compressed) of it (bytes)",
                history.bean().attributeInfo("StoredBytes").getDescription());
    }

    @Test
    void aSampleIsOfAllFiguresOrOfNone() throws Exception {
        history.sample();
        fails = true;
        try {
            history.sample();
        } catch (IllegalStateException e) {
            fails = false;
        }
        history.sample();
        assertEquals(2, get("StoredBytes").length);
        assertEquals(2, ((double[]) history.bean().getAttribute("Mean")).length);
        assertEquals(2, get("Times").length);
    }
}
