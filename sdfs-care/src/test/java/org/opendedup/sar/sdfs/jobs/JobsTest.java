package org.opendedup.sar.sdfs.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestWait;

@Timeout(30)
class JobsTest {
    private final CountDownLatch keeping = new CountDownLatch(1);
    private final CountDownLatch diskAnswers = new CountDownLatch(1);
    private final AtomicReference<String> kept = new AtomicReference<>();

    /** Jobs that end at once, and are kept on a disk that hangs. */
    private final class KeptJobs extends Jobs<String> {
        KeptJobs() {
            super("pool0", "test", Lives.ON, Clock.systemUTC());
        }

        Optional<JobStatus<String>> start() throws IOException {
            return start(Cause.JMX, () -> new RunningJob.Plan<>("a test started", "", null, job -> "result"));
        }

        @Override
        protected void keep(JobStatus<String> status) {
            keeping.countDown();
            try {
                diskAnswers.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            kept.set(status.state() + " " + status.report());
        }

        @Override
        protected String words(JobStatus<String> status) {
            return "";
        }
    }

    /** Jobs whose end fails where it is kept and where it is told, as when classes were replaced below the program. */
    private static final class BrokenJobs extends Jobs<String> {
        BrokenJobs() {
            super("pool0", "test", Lives.ON, Clock.systemUTC());
        }

        Optional<JobStatus<String>> start() throws IOException {
            return start(Cause.SCHEDULE, () -> new RunningJob.Plan<>("a test started", "", null, job -> "result"));
        }

        @Override
        protected void keep(JobStatus<String> status) {
            throw new NoClassDefFoundError("keep");
        }

        @Override
        protected String words(JobStatus<String> status) {
            throw new NoClassDefFoundError("words");
        }
    }

    @Test
    void aJobWhoseEndCannotBeToldHasEnded() throws Exception {
        try (var jobs = new BrokenJobs()) {
            for (int i = 0; i < 2; i++) {
                assertTrue(jobs.start().isPresent(), "one of its kind can start");
                TestWait.until(() -> jobs.running().isEmpty());
                assertEquals(JobState.DONE, jobs.latest().orElseThrow().state());
            }
        }
    }

    @Test
    void whoAsksForTheStatusDoesNotWaitUntilAJobIsKept() throws Exception {
        try (var jobs = new KeptJobs()) {
            assertTrue(jobs.start().isPresent());
            keeping.await();
            // With the lock held, these wait until the time limit of the test.
            assertEquals(JobState.RUNNING, jobs.latest().orElseThrow().state());
            assertTrue(jobs.start().isEmpty(), "it has not ended");
            diskAnswers.countDown();
            TestWait.until(() -> jobs.running().isEmpty());
            assertEquals(JobState.DONE + " result", kept.get(), "kept before its end is shown");
            assertEquals("result", jobs.latest().orElseThrow().report());
        }
    }
}
