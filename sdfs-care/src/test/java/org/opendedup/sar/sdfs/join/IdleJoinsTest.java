package org.opendedup.sar.sdfs.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** When an exact pass starts that nobody asked for. */
@Timeout(60)
class IdleJoinsTest {
    private final FakeJoin source = new FakeJoin();
    private final Joins joins = new Joins("pool0", source, Clock.systemUTC());
    private long now = 1;
    private final IdleJoins idle = new IdleJoins(joins, () -> now);

    @AfterEach
    void close() throws IOException {
        idle.close();
        joins.close();
    }

    private void beIdle() {
        source.worthwhile = true;
        source.quiet = IdleJoins.IDLE;
    }

    private JobStatus<JoinReport> awaitEnd() throws InterruptedException {
        while (joins.running().isPresent()) {
            Thread.sleep(1);
        }
        return joins.latest().orElseThrow();
    }

    @Test
    void aPassThatIsWorthItStartsOnAnIdleVolume() throws Exception {
        beIdle();
        idle.step();
        assertEquals(Cause.IDLE, awaitEnd().cause());
        assertEquals(1, source.selective.get());
    }

    @Test
    void noneStartsWhileProgramsUseTheVolume() {
        beIdle();
        source.quiet = IdleJoins.IDLE.minusNanos(1);
        idle.step();
        assertTrue(joins.latest().isEmpty());
    }

    @Test
    void noneStartsThatIsNotWorthIt() {
        beIdle();
        source.worthwhile = false;
        idle.step();
        assertTrue(joins.latest().isEmpty());
    }

    @Test
    void thereIsAnHourBetweenTwo() throws Exception {
        beIdle();
        source.failure = new IOException("a disk is full");
        idle.step();
        assertEquals(JobState.FAILED, awaitEnd().state());
        now += IdleJoins.PAUSE.toNanos() - 1;
        idle.step();
        assertEquals(1, source.selective.get());
        now++;
        idle.step();
        awaitEnd();
        assertEquals(2, source.selective.get());
    }

    @Test
    void oneThatWasAskedForJoinsEverything() throws Exception {
        beIdle();
        source.endless = true;
        assertTrue(joins.start(Cause.SDFSCLI).isPresent());
        // The control: a second one does not start beside it.
        idle.step();
        assertEquals(0, source.selective.get());
        source.endless = false;
        assertEquals(Cause.SDFSCLI, awaitEnd().cause());
    }

    @Test
    void aVeryLongIdleTimeIsNoError() throws Exception {
        beIdle();
        source.quiet = Duration.ofNanos(Long.MAX_VALUE);
        idle.step();
        awaitEnd();
        assertEquals(1, source.selective.get());
    }
}
