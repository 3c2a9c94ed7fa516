package org.opendedup.sar.sdfs.collect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;

/** The timer, with a clock that the test sets. */
@Timeout(30)
class ScheduledCollectionTest {
    /** Saturday, the 28th of November 2026, 12:00 in Berlin. */
    private static final Instant SATURDAY = Instant.parse("2026-11-28T11:00:00Z");

    private final SetClock clock = new SetClock();
    private final FakeCollector collector = new FakeCollector();
    private final GarbageCollections collections =
            new GarbageCollections("pool0", collector, collector.moves(), FakeCollector.recompress(), () -> {}, clock);
    private final ScheduleTimer timer = new ScheduleTimer(
            "the collection of garbage",
            () -> collections.start(Cause.SCHEDULE).isPresent(),
            () -> collections.last().map(JobStatus::began).or(() -> Optional.of(SATURDAY)),
            Schedule.parse(Schedule.COLLECTIONS_DEFAULT),
            clock,
            clock::nanos);

    private static final class SetClock extends Clock {
        private Instant now = SATURDAY;
        /** What has passed, in nanoseconds, whatever the time of day was set to. */
        private long passedNs;

        void pass(Duration time) {
            now = now.plus(time);
            passedNs += time.toNanos();
        }

        long nanos() {
            return passedNs;
        }

        @Override
        public ZoneId getZone() {
            return ZoneId.of("Europe/Berlin");
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Instant instant() {
            return now;
        }
    }

    @AfterEach
    void end() throws IOException {
        timer.close();
        collections.close();
    }

    private int startedAfter(Duration passed) throws IOException, InterruptedException {
        clock.pass(passed);
        return started();
    }

    /** The clock is set; five seconds have passed since the last step. */
    private int startedAtSetTime(Instant time) throws IOException, InterruptedException {
        clock.now = time;
        clock.passedNs += Duration.ofSeconds(5).toNanos();
        return started();
    }

    private int started() throws IOException, InterruptedException {
        timer.step();
        Optional<JobStatus<Collected>> latest = collections.latest();
        while (!collector.endless
                && latest.isPresent()
                && collections.latest().orElseThrow().state() == JobState.RUNNING) {
            Thread.sleep(1);
        }
        return (int) collections.latest().map(JobStatus::number).orElse(0L).longValue();
    }

    @Test
    void aCollectionStartsOnceAtEachTimeOfTheSchedule() throws Exception {
        assertEquals(
                "2026-11-29T12:00+01:00",
                timer.next().orElseThrow().toOffsetDateTime().toString());
        assertEquals(0, startedAfter(Duration.ofHours(24).minusSeconds(5)), "not yet");
        assertEquals(1, startedAfter(Duration.ofSeconds(5)));
        assertEquals(1, startedAfter(Duration.ofSeconds(5)), "once");
        assertEquals(1, startedAfter(Duration.ofDays(7).minusSeconds(10)));
        assertEquals(2, startedAfter(Duration.ofSeconds(10)));
        assertEquals(new CollectionLimits(0.03, false), collector.asked.get(1));
        assertEquals(Cause.SCHEDULE, collections.last().orElseThrow().cause());
    }

    @Test
    void aTimeThatPassedWhileTheMachineSleptIsMadeUpForOnce() throws Exception {
        assertEquals(1, startedAfter(Duration.ofDays(16)), "two Sundays");
        assertEquals(1, startedAfter(Duration.ofHours(1)));
        assertEquals(2, startedAfter(Duration.ofDays(6).minusHours(1)), "the next Sunday");
    }

    @Test
    void aTimeBeforeTheMountIsMadeUpForSomeMinutesAfterIt() throws Exception {
        try (var mounted = new ScheduleTimer(
                "the collection of garbage",
                () -> collections.start(Cause.SCHEDULE).isPresent(),
                () -> Optional.of(SATURDAY.minus(Duration.ofDays(8))),
                Schedule.parse(Schedule.COLLECTIONS_DEFAULT),
                clock,
                clock::nanos)) {
            assertEquals(
                    SATURDAY.minus(Duration.ofDays(6)),
                    mounted.missed().orElseThrow().toInstant());
            clock.pass(ScheduleTimer.LATE.minusSeconds(1));
            mounted.step();
            assertEquals(Optional.empty(), collections.latest());
            collector.diskFull = true;
            clock.pass(Duration.ofSeconds(1));
            mounted.step();
            assertEquals(Optional.empty(), collections.latest(), "it failed");
            collector.diskFull = false;
            clock.pass(Duration.ofHours(23));
            mounted.step();
            assertEquals(Optional.empty(), collections.latest(), "it is too early for another try");
            clock.pass(Duration.ofHours(1));
            mounted.step();
            assertTrue(collections.latest().isPresent());
        }
    }

    @Test
    void aClockThatIsSetBackDelaysNothing() throws Exception {
        assertEquals(0, startedAtSetTime(SATURDAY.minus(Duration.ofDays(14))));
        assertEquals(1, startedAfter(Duration.ofDays(1)));
        assertEquals(2, startedAtSetTime(SATURDAY), "it seems that a Sunday was missed");
        assertEquals(3, startedAfter(Duration.ofDays(1)), "a day has passed, and it is Sunday noon again");
    }

    @Test
    void aClockThatIsSetBackAndForthStartsOneCollectionInAnHourForATimeOfTheSchedule() throws Exception {
        Instant noon = SATURDAY.plus(Duration.ofDays(1));
        for (int i = 0; i < 300; i++) {
            assertEquals(i == 0 ? 0 : 1, startedAtSetTime(noon.minusSeconds(1 + i)));
            assertEquals(1, startedAtSetTime(noon.plusMillis(i)));
        }
        assertEquals(1, startedAtSetTime(noon.plusSeconds(5)));
        assertEquals(1, startedAfter(Duration.ofDays(7).minusSeconds(10)));
        assertEquals(2, startedAfter(Duration.ofSeconds(10)));
    }

    @Test
    void aClockThatWasTenYearsAheadForAMomentDelaysNothing() throws Exception {
        assertEquals(0, startedAtSetTime(SATURDAY.plus(Duration.ofDays(3652))));
        assertEquals(0, startedAtSetTime(SATURDAY.plusSeconds(5)));
        assertEquals(1, startedAfter(Duration.ofHours(24)));
    }

    @Test
    void timesThatWereLeftOutDoNotHideTheLastOne() throws Exception {
        Instant nextNoon = SATURDAY.plus(Duration.ofDays(8));
        assertEquals(1, startedAtSetTime(nextNoon.plusSeconds(30)));
    }

    @Test
    void aClockThatStandsStillStartsNothingAndGoesOn() throws Exception {
        for (int i = 0; i < 100; i++) {
            assertEquals(0, startedAtSetTime(SATURDAY));
        }
        assertEquals(1, startedAfter(Duration.ofHours(24)));
    }

    @Test
    void noneStartsWhileOneIsRunning() throws Exception {
        collector.endless = true;
        assertTrue(collections
                .start(Cause.SDFSCLI, new CollectionLimits(0.5, false))
                .isPresent());
        assertEquals(1, startedAfter(Duration.ofHours(24)));
        assertEquals(1, startedAfter(Duration.ofDays(7)));
        assertTrue(collections.stop(Cause.SDFSCLI, 1));
        collector.endless = false;
        while (collections.running().isPresent()) {
            Thread.sleep(1);
        }
        assertEquals(2, startedAfter(Duration.ofDays(7)));
    }

    @Test
    void theTimerGoesOnAfterACollectionThatCannotStart() throws Exception {
        collector.diskFull = true;
        assertEquals(0, startedAfter(Duration.ofHours(24)));
        collector.diskFull = false;
        assertEquals(1, startedAfter(Duration.ofDays(7)));
    }

    @Test
    void withoutAScheduleNoneStarts() throws Exception {
        try (var off = new ScheduleTimer(
                "the collection of garbage",
                () -> collections.start(Cause.SCHEDULE).isPresent(),
                () -> Optional.of(SATURDAY.minus(Duration.ofDays(30))),
                Schedule.parse(Schedule.OFF),
                clock,
                clock::nanos)) {
            assertEquals(Optional.empty(), off.next());
            clock.now = clock.now.plus(Duration.ofHours(24));
            off.step();
            assertEquals(Optional.empty(), collections.latest());
        }
    }
}
