package org.opendedup.sar.sdfs.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare.Pruned;

/** Snapshots of people and of the schedule, with a clock that the test sets. */
class SnapshotCareTest {
    private Instant now = Instant.parse("2026-05-01T10:00:00Z");
    private long nanos;

    private final Clock clock = new Clock() {
        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException();
        }
    };

    private final FakeSnapshots snapshots = new FakeSnapshots(clock);
    private final SnapshotCare care = new SnapshotCare("pool0", snapshots, KeepRules.parse("hourly=2"), clock);

    private List<String> names() {
        return snapshots.list().stream().map(SnapshotRecord::name).toList();
    }

    private static List<String> names(List<SnapshotRecord> records) {
        return records.stream().map(SnapshotRecord::name).toList();
    }

    private void pass(Duration time) {
        now = now.plus(time);
        nanos += time.toNanos();
    }

    @Test
    void theScheduleDeletesWhatItMadeAndNothingElse() throws IOException {
        care.create("mine", 0);
        for (int i = 0; i < 4; i++) {
            care.createScheduled();
            pass(Duration.ofHours(1));
        }
        assertEquals(List.of("mine", "@GMT-2026.05.01-12.00.00", "@GMT-2026.05.01-13.00.00"), names());
        assertEquals(Optional.of(Instant.parse("2026-05-01T13:00:00Z")), care.lastScheduled());
        snapshots.create("later", 0, false);
        assertEquals(Optional.of(Instant.parse("2026-05-01T13:00:00Z")), care.lastScheduled());
    }

    /** On a full disk, what the rules no longer keep would give the space for the next one. */
    @Test
    void theScheduleDeletesAlsoIfItCannotMakeOne() throws IOException {
        for (int i = 0; i < 3; i++) {
            care.createScheduled();
            pass(Duration.ofHours(1));
        }
        care.change(KeepRules.parse("hourly=1"));
        snapshots.isFull = true;
        assertThrows(PosixException.class, care::createScheduled);
        assertEquals(List.of("@GMT-2026.05.01-12.00.00"), names());
        assertThrows(PosixException.class, care::createScheduled);
        assertEquals(List.of("@GMT-2026.05.01-12.00.00"), names());
    }

    /** One that it made would take the name of the next one, and the place of the base in the rules. */
    @Test
    void theScheduleOfAReplicaThinsOutWhatWasReceivedAndMakesNothing() throws IOException {
        for (int hour = 10; hour < 14; hour++) {
            snapshots.create("received-" + hour, 0, true);
            pass(Duration.ofHours(1));
        }
        snapshots.isReplica = true;
        for (int i = 0; i < 4; i++) {
            care.createScheduled();
            pass(Duration.ofHours(1));
        }
        assertEquals(List.of("received-12", "received-13"), names());
        // The control: in any other volume, the base of what would be received next goes.
        snapshots.isReplica = false;
        for (int i = 0; i < 2; i++) {
            care.createScheduled();
            pass(Duration.ofHours(1));
        }
        assertEquals(List.of("@GMT-2026.05.01-18.00.00", "@GMT-2026.05.01-19.00.00"), names());
    }

    /** A thread that cannot be started is the same to it as one that is refused. */
    @Test
    void aSnapshotThatCouldNotBeBegunIsNotTakenForOneThatIsBeingMade() {
        care.close();
        for (int i = 0; i < 2; i++) {
            assertThrows(RejectedExecutionException.class, care::startScheduled);
        }
    }

    @Test
    void whatIsHeldStaysUntilItsTime() throws IOException {
        care.createScheduled();
        String first = names().get(0);
        care.hold(first, now.plus(Duration.ofHours(5)).toEpochMilli());
        for (int i = 0; i < 4; i++) {
            pass(Duration.ofHours(1));
            care.createScheduled();
        }
        assertEquals(List.of(first, "@GMT-2026.05.01-13.00.00", "@GMT-2026.05.01-14.00.00"), names());
        assertEquals(
                List.of(first), names(care.prune(care.rules(), false, false).held()));
        assertThrows(PosixException.class, () -> care.delete(first, SnapshotCare.ANY));
        assertThrows(IllegalArgumentException.class, () -> care.hold(first, now.toEpochMilli()));
        pass(Duration.ofHours(2));
        care.createScheduled();
        assertEquals(List.of("@GMT-2026.05.01-14.00.00", "@GMT-2026.05.01-16.00.00"), names());
    }

    @Test
    void aDryRunSaysWhatPruningDeletes() throws IOException {
        for (int i = 0; i < 3; i++) {
            care.create("a" + i, 0);
            pass(Duration.ofMinutes(1));
        }
        KeepRules last = KeepRules.parse("last=1");
        assertEquals(new Pruned(List.of(), List.of(), 0), care.prune(last, false, true));
        Pruned dry = care.prune(last, true, true);
        assertEquals(List.of("a0", "a1"), names(dry.deleted()));
        assertEquals(List.of("a0", "a1", "a2"), names());
        assertEquals(dry, care.prune(last, true, false));
        assertEquals(List.of("a2"), names());
    }

    /** The new one has the name of one that no rule keeps; that one is gone already, and the others still go. */
    @Test
    void pruningLeavesASnapshotThatGotTheNameOfAnotherOneMeanwhile() throws IOException {
        for (int i = 0; i < 4; i++) {
            care.create("a" + i, 0);
            pass(Duration.ofMinutes(1));
        }
        snapshots.afterList = () -> makeAgain("a0");
        Pruned pruned = care.prune(KeepRules.parse("last=1"), true, false);
        assertEquals(List.of("a1", "a2"), names(pruned.deleted()));
        assertEquals(List.of("a3", "a0"), names());
    }

    private void makeAgain(String name) {
        try {
            care.delete(name, SnapshotCare.ANY);
            care.create(name, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** It is held after it was listed; the others that no rule keeps still go. */
    @Test
    void pruningGoesOnBehindASnapshotThatIsHeldMeanwhile() throws IOException {
        for (int i = 0; i < 4; i++) {
            care.create("a" + i, 0);
            pass(Duration.ofMinutes(1));
        }
        snapshots.afterList = () -> hold("a0");
        Pruned pruned = care.prune(KeepRules.parse("last=1"), true, false);
        assertEquals(List.of("a0"), names(pruned.held()));
        assertEquals(List.of("a1", "a2"), names(pruned.deleted()));
        assertEquals(List.of("a0", "a3"), names());
    }

    private void hold(String name) {
        try {
            care.hold(name, now.plus(Duration.ofHours(1)).toEpochMilli());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aDeletionByNumberLeavesASnapshotThatGotTheName() throws IOException {
        long number = care.create("a", 0).number();
        makeAgain("a");
        assertThrows(PosixException.class, () -> care.delete("a", number));
        assertEquals(List.of("a"), names());
        care.delete("a", snapshots.list().get(0).number());
        assertEquals(List.of(), names());
    }

    @Test
    void nothingIsMadeOrDeletedWhenTheVolumeIsBeingClosed() throws IOException {
        care.create("kept", 0);
        care.close();
        assertThrows(IOException.class, () -> care.create("more", 0));
        assertThrows(IOException.class, () -> care.delete("kept", SnapshotCare.ANY));
        assertEquals(List.of("kept"), names());
    }

    /** Of many times that passed without the volume being mounted, one snapshot is made. */
    @Test
    void missedTimesAreMadeUpForOnce() throws IOException {
        care.createScheduled();
        pass(Duration.ofDays(3));
        try (ScheduleTimer timer = timer()) {
            timer.step();
            assertEquals(1, names().size(), "not in the first minutes of a mount");
            for (int minute = 0; minute < 30; minute++) {
                pass(Duration.ofMinutes(1));
                timer.step();
            }
            assertEquals(List.of("@GMT-2026.05.01-10.00.00", "@GMT-2026.05.04-10.10.00"), names());
            assertEquals(Optional.empty(), timer.missed());
        }
    }

    /** A clock that is set back and forth makes no snapshot twice for a time, and the rules delete no more for it. */
    @Test
    void aClockThatJumpsMakesNoSnapshotsWithoutEnd() throws IOException {
        try (ScheduleTimer timer = timer()) {
            pass(Duration.ofMinutes(59));
            for (int i = 0; i < 20; i++) {
                pass(Duration.ofMinutes(2));
                timer.step();
                now = now.minus(Duration.ofMinutes(2));
                timer.step();
            }
            assertEquals(List.of("@GMT-2026.05.01-11.01.00"), names());
            Instant before = now;
            now = Instant.parse("2099-01-01T00:30:00Z");
            care.createScheduled();
            now = before;
            pass(Duration.ofHours(2));
            care.createScheduled();
            assertEquals(List.of("@GMT-2099.01.01-00.30.00", "@GMT-2026.05.01-12.59.00"), names());
            assertEquals(Optional.of(now), care.lastScheduled(), "the newest by its number");
        }
    }

    private ScheduleTimer timer() {
        return new ScheduleTimer(
                "the snapshot",
                () -> {
                    care.createScheduled();
                    return true;
                },
                care::lastScheduled,
                Schedule.parse("0 0 * * * ?"),
                clock,
                () -> nanos);
    }
}
