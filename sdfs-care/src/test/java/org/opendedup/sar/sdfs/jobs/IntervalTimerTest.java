package org.opendedup.sar.sdfs.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class IntervalTimerTest {
    private static final Instant LAST = Instant.parse("2026-05-01T12:00:00Z");

    private int started;

    private IntervalTimer at(Duration sinceLast, Duration interval) {
        return new IntervalTimer(
                "the job",
                () -> {
                    started++;
                    return true;
                },
                () -> LAST,
                interval,
                Clock.fixed(LAST.plus(sinceLast), ZoneOffset.UTC));
    }

    @Test
    void aJobStartsWhenTheIntervalHasPassedAlsoOverAMount() {
        try (IntervalTimer early = at(Duration.ofDays(30).minusSeconds(1), Duration.ofDays(30));
                IntervalTimer due = at(Duration.ofDays(30), Duration.ofDays(30));
                IntervalTimer late = at(Duration.ofDays(300), Duration.ofDays(30))) {
            early.step();
            assertEquals(0, started);
            due.step();
            assertEquals(1, started);
            due.step();
            assertEquals(1, started, "the same day");
            late.step();
            assertEquals(2, started);
            assertEquals("every 30 days", early.rule());
            assertEquals("2026-05-31T12:00:00Z", early.nextText());
        }
    }

    /** Otherwise none would start before that time has come again. */
    @Test
    void aClockThatWasSetBackStartsAJobAtOnce() {
        try (IntervalTimer back = at(Duration.ofDays(-300), Duration.ofDays(30))) {
            back.step();
            assertEquals(1, started);
            back.step();
            assertEquals(1, started, "the control: the same day");
        }
    }

    @Test
    void withoutAnIntervalThereIsNoNextTime() {
        try (IntervalTimer none = at(Duration.ofDays(300), Duration.ZERO)) {
            assertEquals("off", none.rule());
            assertEquals("", none.nextText());
        }
    }

    @Test
    void aFailureDoesNotEndTheTimer() {
        int[] calls = new int[1];
        try (IntervalTimer failing = new IntervalTimer(
                "the job",
                () -> {
                    calls[0]++;
                    throw new IOException("the disk fails");
                },
                () -> LAST,
                Duration.ofDays(1),
                Clock.fixed(LAST.plus(Duration.ofDays(2)), ZoneOffset.UTC))) {
            failing.step();
            failing.step();
            assertEquals(2, calls[0]);
        }
    }
}
