package org.opendedup.sar.sdfs.scrub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.slf4j.LoggerFactory;

/** Start, stop, end and log of scrubs, and which of them go on by themselves. */
@Timeout(30)
class ScrubsTest {
    private final ch.qos.logback.classic.Logger logger =
            (ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Scrubs.class);
    private final Level level = logger.getLevel();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final FakeScrub source = new FakeScrub();
    private Scrubs scrubs = scrubs();

    private Scrubs scrubs() {
        return new Scrubs("pool0", source, Clock.systemUTC());
    }

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void end() throws IOException {
        scrubs.close();
        logger.detachAppender(lines);
        logger.setLevel(level);
    }

    private JobStatus<ScrubRun> awaitEnd() throws InterruptedException {
        while (scrubs.running().isPresent()) {
            Thread.sleep(1);
        }
        return scrubs.latest().orElseThrow();
    }

    private void awaitContainers(int count) throws InterruptedException {
        while (scrubs.latest().orElseThrow().report().totals().containers() < count) {
            Thread.sleep(1);
        }
    }

    private List<String> log() {
        return List.copyOf(lines.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void aScrubIsLoggedWithItsCauseAndItsResult() throws Exception {
        assertFalse(scrubs.start(Cause.SDFSCLI).orElseThrow().report().continued());
        JobStatus<ScrubRun> status = awaitEnd();
        assertEquals(JobState.DONE, status.state());
        assertEquals(100, status.report().totals().containers());
        assertEquals("volume pool0, by sdfscli: a scrub started", log().get(0));
        assertTrue(
                log().get(1).endsWith("; 100 MiB in 100 containers, 400 chunks verified, nothing found"),
                log()::toString);

        source.finds = FakeScrub.found(3, 2, 1);
        assertTrue(scrubs.start(Cause.JMX).isPresent());
        assertFalse(awaitEnd().report().totals().isClean());
        assertTrue(log().get(3).contains("found 3 damaged frames, 2 containers"), log()::toString);
        assertEquals(Level.ERROR, lines.list.get(3).getLevel());
    }

    @Test
    void oneRunsAtATimeAndTheNextStartContinuesWhatWasStopped() throws Exception {
        source.waitsAt = 40;
        long number = scrubs.start(Cause.SDFSCLI).orElseThrow().number();
        assertEquals(Optional.empty(), scrubs.start(Cause.SCHEDULE));
        awaitContainers(40);
        assertTrue(scrubs.stop(Cause.SDFSCLI, number));
        assertEquals(JobState.STOPPED, awaitEnd().state());
        assertFalse(scrubs.stop(Cause.SDFSCLI, number), "it has ended");
        assertTrue(scrubs.unfinished().orElseThrow().held());
        assertTrue(log().contains("volume pool0, by sdfscli: stopping the scrub"), log()::toString);

        source.waitsAt = -1;
        JobStatus<ScrubRun> second = scrubs.start(Cause.JMX).orElseThrow();
        assertTrue(second.report().continued());
        assertEquals(40 << 20, second.report().bytesResumed());
        JobStatus<ScrubRun> status = awaitEnd();
        assertEquals(100, status.report().totals().containers());
        assertEquals(Optional.empty(), scrubs.unfinished());
        assertTrue(log().stream().anyMatch(line -> line.contains("by JMX") && line.contains("40.0 MiB are verified")));
    }

    @Test
    void whatAnUnmountStoppedGoesOnByItselfAndWhatWasStoppedOnRequestDoesNot() throws Exception {
        source.waitsAt = 40;
        assertTrue(scrubs.start(Cause.SCHEDULE).isPresent());
        awaitContainers(40);
        scrubs.close();
        assertTrue(log().get(1).contains("it goes on after the next mount"), log()::toString);
        assertThrows(IOException.class, () -> scrubs.start(Cause.SDFSCLI));
        ScrubRecord stopped = source.current;
        assertNotNull(stopped);
        assertFalse(stopped.held());

        // The control: it was stopped on request.
        source.current = stopped.hold();
        scrubs = scrubs();
        scrubs.resume();
        assertEquals(Optional.empty(), scrubs.latest());

        source.current = stopped;
        source.waitsAt = -1;
        try (ScrubResumer resumer = ScrubResumer.start(scrubs, Duration.ofMillis(1))) {
            assertNotNull(resumer);
            while (scrubs.latest().isEmpty()) {
                Thread.sleep(1);
            }
        }
        JobStatus<ScrubRun> status = awaitEnd();
        assertEquals(Cause.MOUNT, status.cause());
        assertTrue(status.report().continued());
        assertEquals(JobState.DONE, status.state());
        scrubs.resume();
        assertEquals(1, scrubs.latest().orElseThrow().number(), "a complete one does not go on");
    }

    @Test
    void aClosedResumerContinuesNothing() throws Exception {
        source.waitsAt = 40;
        assertTrue(scrubs.start(Cause.SDFSCLI).isPresent());
        awaitContainers(40);
        scrubs.close();
        scrubs = scrubs();
        ScrubResumer.start(scrubs, Duration.ofDays(1)).close();
        assertEquals(Optional.empty(), scrubs.latest());
    }

    @Test
    void aFailureIsKeptAndTheNextStartIsPossible() throws Exception {
        source.failure = new IOException("the metadata cannot be read");
        assertTrue(scrubs.start(Cause.SDFSCLI).isPresent());
        JobStatus<ScrubRun> status = awaitEnd();
        assertEquals(JobState.FAILED, status.state());
        assertEquals(source.failure, status.failure());
        assertEquals(Level.WARN, lines.list.get(1).getLevel());
        source.failure = null;
        assertTrue(scrubs.start(Cause.SDFSCLI).isPresent());
        assertEquals(JobState.DONE, awaitEnd().state());
    }
}
