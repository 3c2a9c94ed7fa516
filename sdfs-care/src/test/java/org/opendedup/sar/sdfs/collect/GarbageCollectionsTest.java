package org.opendedup.sar.sdfs.collect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.slf4j.LoggerFactory;

@Timeout(30)
class GarbageCollectionsTest {
    private static final CollectionLimits LIMITS = new CollectionLimits(0.03, false);
    private static final CollectionLimits DRY = new CollectionLimits(0.03, true);

    private final ch.qos.logback.classic.Logger logger =
            (ch.qos.logback.classic.Logger) LoggerFactory.getLogger(GarbageCollections.class);
    private final Level level = logger.getLevel();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final FakeCollector collector = new FakeCollector();
    private boolean readOnly;
    private final GarbageCollections collections = new GarbageCollections(
            "pool0", collector, collector.moves(), FakeCollector.recompress(), this::checkWritable, Clock.systemUTC());

    private void checkWritable() throws IOException {
        if (readOnly) {
            throw new IOException("mounted read-only");
        }
    }

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void end() throws IOException {
        collections.close();
        logger.detachAppender(lines);
        logger.setLevel(level);
    }

    @Test
    void theLastCollectionIsKnownToLaterMounts(@TempDir Path folder) throws Exception {
        var record = new CollectionRecord(folder.resolve("pool0.collection"));
        JobStatus<Collected> done;
        try (var first = new GarbageCollections(
                "pool0",
                collector,
                collector.moves(),
                FakeCollector.recompress(),
                () -> {},
                record,
                Clock.systemUTC())) {
            assertEquals(Optional.empty(), first.last());
            first.start(Cause.SCHEDULE);
            while (first.running().isPresent()) {
                Thread.sleep(1);
            }
            done = first.last().orElseThrow();
        }
        try (var second = new GarbageCollections(
                "pool0",
                collector,
                collector.moves(),
                FakeCollector.recompress(),
                () -> {},
                record,
                Clock.systemUTC())) {
            JobStatus<Collected> last = second.last().orElseThrow();
            assertEquals(done.began(), last.began());
            assertEquals(done.ended(), last.ended());
            assertEquals(done.report(), last.report());
            assertEquals(Optional.empty(), second.latest(), "it is none of this mount");
        }
        Files.writeString(record.file(), "{\"state\":");
        assertEquals(Optional.empty(), record.read());
    }

    private JobStatus<Collected> awaitEnd() throws InterruptedException {
        while (collections.running().isPresent()) {
            Thread.sleep(1);
        }
        return collections.latest().orElseThrow();
    }

    private List<String> logged() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void aCollectionRunsInTheBackgroundAndItsResultStays() throws Exception {
        assertEquals(Optional.empty(), collections.latest());
        JobStatus<Collected> begun = collections
                .start(Cause.SDFSCLI, LIMITS, ArrangementLimits.DEFAULT)
                .orElseThrow();
        assertEquals(1, begun.number());
        JobStatus<Collected> ended = awaitEnd();
        assertEquals(JobState.DONE, ended.state());
        assertEquals(
                88L << 20, Objects.requireNonNull(Collected.of(ended).report()).returnedBytes());
        assertTrue(collections.start(Cause.JMX, DRY).isPresent());
        assertTrue(Collected.of(awaitEnd()).dryRun());
        collections.close();
        assertEquals(1, collections.last().orElseThrow().number(), "a dry run is no last result");
        assertEquals(List.of(LIMITS, DRY), collector.asked);
        assertEquals(4, logged().size(), () -> logged().toString());
        assertEquals(
                "volume pool0, by sdfscli: collection of garbage started, after an arrangement; 3.0 "
                        + "% of the stored bytes"
                        + " may stay garbage",
                logged().get(0));
        assertTrue(
                logged().get(1).contains("it has moved 6.00 MiB of chunks, returned 88.0 MiB, removed 15"),
                () -> logged().toString());
        assertTrue(logged().get(3).contains("would return about 283 MiB"), () -> logged().toString());
    }

    @Test
    void aCollectionStartsWhenThereIsLittleSpaceAndThatHelps() throws Exception {
        long[] now = {1};
        collections.setArranging(Cause.SDFSCLI, true);
        try (var lowSpace = new LowSpaceCollections(collections, () -> now[0])) {
            lowSpace.step();
            assertEquals(List.of(), collector.asked, "the control: there is space, or no garbage");
            collector.worthwhile = true;
            collector.diskFull = true;
            lowSpace.step();
            assertEquals(List.of(), collector.asked, "one is running");
            collector.diskFull = false;
            lowSpace.step();
            assertEquals(Cause.LOW_SPACE, awaitEnd().cause());
            assertEquals(List.of(LIMITS), collector.asked);
            assertEquals(List.of(), collector.askedToArrange, "that takes space first");
            now[0] += LowSpaceCollections.PAUSE.toNanos() - 1;
            lowSpace.step();
            assertEquals(1, collector.asked.size());
            now[0]++;
            lowSpace.step();
            awaitEnd();
            assertEquals(2, collector.asked.size());
        }
    }

    @Test
    void anArrangementRunsBeforeTheCollectionIfItIsWanted() throws Exception {
        assertFalse(collections.isArranging(), "nobody wants it at first");
        collections.start(Cause.SCHEDULE, LIMITS);
        assertEquals(null, Collected.of(awaitEnd()).arrangement());
        assertEquals(List.of(), collector.askedToArrange);
        collections.setArranging(Cause.SDFSCLI, true);
        assertTrue(collections.isArranging());
        collections.start(Cause.SCHEDULE, LIMITS);
        assertEquals(
                6L << 20,
                Objects.requireNonNull(Collected.of(awaitEnd()).arrangement()).movedBytes());
        assertEquals(List.of(ArrangementLimits.DEFAULT), collector.askedToArrange);
        // Neither a dry run nor a collection that is told not to.
        collections.start(Cause.JMX, DRY);
        awaitEnd();
        collections.start(Cause.SDFSCLI, LIMITS, null);
        awaitEnd();
        assertEquals(1, collector.askedToArrange.size());
        assertEquals(4, collector.asked.size());
    }

    @Test
    void whatIsWorthItIsJoinedBeforeAScheduledCollection() throws Exception {
        collections.start(Cause.SCHEDULE, LIMITS);
        awaitEnd();
        assertEquals(1, collector.askedToJoin.get());
        // Neither a dry run nor a collection that somebody asks for.
        collections.start(Cause.SCHEDULE, DRY);
        awaitEnd();
        collections.start(Cause.SDFSCLI, LIMITS);
        awaitEnd();
        assertEquals(1, collector.askedToJoin.get());
    }

    @Test
    void anArrangementIsShownAndStopped() throws Exception {
        collector.arrangesEndlessly = true;
        var limits = new ArrangementLimits(0.5, 1.2);
        long number =
                collections.start(Cause.SDFSCLI, LIMITS, limits).orElseThrow().number();
        while (collections.latest().orElseThrow().of() == 0) {
            Thread.sleep(1);
        }
        JobStatus<Collected> status = collections.latest().orElseThrow();
        assertEquals("arranging", status.stage());
        assertEquals(800L << 20, status.of());
        assertTrue(collections.stop(Cause.JMX, number));
        assertEquals(JobState.STOPPED, awaitEnd().state());
        assertEquals(List.of(limits), collector.askedToArrange);
        assertEquals(List.of(), collector.asked);
    }

    @Test
    void oneRunsAtATimeAndIsStoppedByItsNumber() throws Exception {
        collector.endless = true;
        long number = collections.start(Cause.SDFSCLI, LIMITS).orElseThrow().number();
        assertEquals(Optional.empty(), collections.start(Cause.JMX, DRY));
        assertFalse(collections.stop(Cause.JMX, number + 1));
        assertEquals(JobState.RUNNING, collections.latest().orElseThrow().state());
        while (Collected.of(collections.latest().orElseThrow()).returnedBytes() == 0) {
            Thread.sleep(1);
        }
        assertTrue(collections.stop(Cause.JMX, number));
        JobStatus<Collected> ended = awaitEnd();
        assertEquals(JobState.STOPPED, ended.state());
        assertEquals(30L << 20, Collected.of(ended).returnedBytes());
        assertFalse(collections.stop(Cause.JMX, number));
        assertEquals(List.of(LIMITS), collector.asked);
    }

    @Test
    void aFailureIsReportedAndTheNextOneMayStart() throws Exception {
        collector.failure = new IOException("no space for the copies");
        collections.start(Cause.SCHEDULE, LIMITS);
        JobStatus<Collected> ended = awaitEnd();
        assertEquals(JobState.FAILED, ended.state());
        assertEquals(collector.failure, ended.failure());
        collector.failure = null;
        collections.start(Cause.SCHEDULE, LIMITS);
        assertEquals(JobState.DONE, awaitEnd().state());
    }

    @Test
    void aVolumeThatIsReadOnlyAllowsOnlyADryRun() throws Exception {
        readOnly = true;
        assertThrows(IOException.class, () -> collections.start(Cause.SDFSCLI, LIMITS));
        assertTrue(collections.start(Cause.SDFSCLI, DRY).isPresent());
        awaitEnd();
        readOnly = false;
        assertTrue(collections.start(Cause.SDFSCLI, LIMITS).isPresent());
        awaitEnd();
        assertEquals(List.of(DRY, LIMITS), collector.asked);
    }

    @Test
    void noneStartsWhileTheVolumeCollectsItself() throws Exception {
        collector.diskFull = true;
        assertTrue(collections.isRunningByItself());
        var e = assertThrows(IOException.class, () -> collections.start(Cause.SDFSCLI, LIMITS));
        assertTrue(e.getMessage().contains("a disk is full"), e::getMessage);
    }

    @Test
    void whatTheVolumeCollectsItselfIsShownLikeTheOthers() throws Exception {
        CollectionWatcher.Watch own = collector.fillDisk();
        assertTrue(own.collected(20, 100, 7));
        JobStatus<Collected> running = collections.running().orElseThrow();
        assertEquals(Cause.FULL_DISK, running.cause());
        assertEquals(
                List.of(20L, 100L, 7L),
                List.of(running.done(), running.of(), Collected.of(running).returnedBytes()));
        assertTrue(collections.isRunningByItself());
        assertThrows(IOException.class, () -> collections.start(Cause.SDFSCLI, LIMITS));
        own.ended(report(7), null);
        collector.diskFull = false;
        JobStatus<Collected> ended = collections.last().orElseThrow();
        assertEquals(running.number(), ended.number());
        assertEquals(JobState.DONE, ended.state());
        assertEquals(7, Objects.requireNonNull(Collected.of(ended).report()).returnedBytes());
        assertFalse(collections.isRunningByItself());
        // One that returned nothing is not worth to be kept.
        collector.fillDisk().ended(report(0), null);
        collector.fillDisk().ended(null, new NoSpaceException("no room for the copies"));
        assertEquals(ended, collections.last().orElseThrow());
        assertEquals(Optional.empty(), collections.running());
        // One that had no room for all copies, but returned something, is.
        CollectionWatcher.Watch other = collector.fillDisk();
        other.collected(30, 100, 9);
        other.ended(null, new NoSpaceException("no room for the copies"));
        assertEquals(JobState.FAILED, collections.last().orElseThrow().state());
        assertEquals(9, Collected.of(collections.last().orElseThrow()).returnedBytes());
    }

    /** Copies are written before the space of the old containers is returned. */
    @Test
    void noneReturnsLessThanNothing() {
        collector.diskFull = true;
        CollectionWatcher.Watch own = collector.fillDisk();
        own.collected(20, 100, -7);
        assertEquals(0, Collected.of(collections.running().orElseThrow()).returnedBytes());
        own.ended(null, new InterruptedIOException("stopped"));
    }

    private static CollectionReport report(long returnedBytes) {
        return new CollectionReport(10, 100, 20, 2, 20, 0, 0, 2, 0, 0, 0, 0, 0, returnedBytes, 0, 0, 0);
    }

    @Test
    void itsClientFindsTheResultAlsoAfterAnotherOfTheVolumeHasBegun() throws Exception {
        long number = collections.start(Cause.SDFSCLI, DRY).orElseThrow().number();
        awaitEnd();
        CollectionWatcher.Watch other = collector.fillDisk();
        assertTrue(collections.latest().orElseThrow().number() > number);
        assertEquals(JobState.DONE, collections.numbered(number).orElseThrow().state());
        other.ended(report(0), null);
        assertEquals(Optional.empty(), collections.numbered(number + 7));
    }

    @Test
    void oneOnRequestIsNotReplacedByOneOfTheVolume() throws Exception {
        collector.endless = true;
        long number = collections.start(Cause.SDFSCLI, LIMITS).orElseThrow().number();
        CollectionWatcher.Watch own = collector.fillDisk();
        assertTrue(own.collected(20, 100, 7));
        own.ended(report(7), null);
        assertEquals(number, collections.latest().orElseThrow().number());
        assertFalse(collections.isRunningByItself());
    }

    @Test
    void closingStopsOneOfTheVolume() throws Exception {
        CollectionWatcher.Watch own = collector.fillDisk();
        Thread closing = new Thread(() -> {
            while (own.collected(20, 100, 7)) {
                Thread.onSpinWait();
            }
            own.ended(null, new InterruptedIOException("stopped"));
        });
        closing.start();
        collections.close();
        closing.join();
        assertEquals(JobState.STOPPED, collections.latest().orElseThrow().state());
        // The volume may still need room while it is closed.
        assertEquals(CollectionWatcher.IDLE, collector.fillDisk());
    }

    @Test
    void closingStopsTheRunningOneAndAllowsNoOther() throws Exception {
        collector.endless = true;
        collections.start(Cause.SDFSCLI, LIMITS);
        collections.close();
        assertEquals(JobState.STOPPED, collections.latest().orElseThrow().state());
        assertThrows(IOException.class, () -> collections.start(Cause.SDFSCLI, LIMITS));
    }

    @Test
    void eachChangeOfThePaceIsALineInTheLogWithOldAndNewValueAndTheWay() {
        collections.pace().setPaused(Cause.JMX, true);
        collections.pace().setPaused(Cause.JMX, true);
        collections.pace().setBytesPerSecond(Cause.SDFSCLI, 20_000_000);
        assertEquals(20_000_000, collector.pace().bytesPerSecond());
        collections.pace().setBytesPerSecond(Cause.JMX, PaceSetting.NO_BOUND);
        assertEquals(Pace.UNLIMITED, collector.pace().bytesPerSecond());
        for (long refused : new long[] {-1, PaceSetting.BYTES_PER_SECOND_MAX + 1}) {
            assertThrows(
                    IllegalArgumentException.class, () -> collections.pace().setBytesPerSecond(Cause.JMX, refused));
        }
        assertEquals(
                List.of(
                        "volume pool0, by JMX: paused of garbage collection changed from false to true",
                        "volume pool0, by sdfscli: bytesPerSecond of garbage collection changed from 0 to 20000000",
                        "volume pool0, by JMX: bytesPerSecond of garbage collection changed from 20000000 to 0"),
                logged());
        assertTrue(collector.pace().isPaused());
    }
}
