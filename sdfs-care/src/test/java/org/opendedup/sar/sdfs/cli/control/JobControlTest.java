package org.opendedup.sar.sdfs.cli.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** The lives of jobs that end with the command that started them. */
@Timeout(60)
class JobControlTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(100);

    @TempDir
    Path folder;

    private static WorkControl control(
            RunningJob.Work<Map<String, Object>> work, Duration forgotten, Duration closing) {
        var lives = new Jobs.Lives(true, forgotten, closing);
        return new WorkControl("restore", new AttendedJobs<>("pool0", "restore", lives), true, arguments -> work);
    }

    private static Map<String, Object> endless(RunningJob<?> job) throws IOException {
        while (true) {
            job.checkStopped();
            Thread.onSpinWait();
        }
    }

    private static Map<String, Object> ask(WorkControl control, String action) throws IOException {
        return ask(control, action, 1);
    }

    private static Map<String, Object> ask(WorkControl control, String action, long number) throws IOException {
        return control.answer(Map.of("action", action, "number", number), new ControlServer.Caller());
    }

    private static void start(WorkControl control) throws IOException {
        Map<String, Object> begun = control.answer(Map.of("action", JobControl.START), new ControlServer.Caller());
        assertEquals(1, Json.number(begun, "number"));
    }

    private static Map<String, Object> awaitEnd(WorkControl control) throws Exception {
        while (true) {
            Map<String, Object> report = ask(control, JobControl.STATUS);
            if (!"running".equals(report.get("state"))) {
                return report;
            }
            Thread.sleep(5);
        }
    }

    @Test
    void oneRunsAtATimeAndIsStoppedOnRequest() throws Exception {
        try (WorkControl control = control(JobControlTest::endless, LONG, LONG)) {
            start(control);
            var e = assertThrows(
                    IOException.class,
                    () -> control.answer(Map.of("action", JobControl.START), new ControlServer.Caller()));
            assertTrue(e.getMessage().contains("is running already"), e.getMessage());
            assertThrows(IOException.class, () -> ask(control, JobControl.STATUS, 2));
            assertThrows(IOException.class, () -> ask(control, "dance"));
            ask(control, JobControl.STOP);
            assertEquals("stopped", awaitEnd(control).get("state"));
        }
    }

    @Test
    void aJobGoesOnWhileItsCommandSaysNothingAndStopsWhenThatIsKilled() throws Exception {
        Path socket = folder.resolve("jobs.sock");
        try (WorkControl control = control(JobControlTest::endless, SHORT, LONG);
                ControlServer server = ControlServer.start(
                        socket,
                        Map.of(
                                "restore",
                                (arguments, caller) -> control.answer(Map.of("action", JobControl.START), caller)),
                        command -> "not known")) {
            // A suspended command's end of the connection stays open.
            ControlSocket.Held suspended =
                    ControlSocket.hold(socket, "restore", Map.of()).orElseThrow();
            assertEquals(1, Json.number(suspended.result(), "number"));
            Thread.sleep(1500);
            assertEquals("running", ask(control, JobControl.STATUS).get("state"));
            suspended.close();
            do {
                // Longer than a job runs when no client asks for its state.
                Thread.sleep(600);
            } while ("running".equals(ask(control, JobControl.STATUS).get("state")));
            assertEquals("stopped", ask(control, JobControl.STATUS).get("state"));
        }
    }

    @Test
    void anEndingDaemonStopsWhatIsUnderWayAndTakesNoMore() throws Exception {
        WorkControl control = control(JobControlTest::endless, LONG, LONG);
        start(control);
        control.close();
        assertEquals("stopped", ask(control, JobControl.STATUS).get("state"));
        assertThrows(IOException.class, () -> start(control));
    }

    @Test
    void anEndingDaemonLeavesBehindWhatHangs() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch abandoned = new CountDownLatch(1);
        WorkControl control = control(new Hanging(hanging, abandoned), LONG, SHORT);
        start(control);
        control.close();
        assertEquals("running", ask(control, JobControl.STATUS).get("state"));
        abandoned.await();
        hanging.countDown();
        assertEquals("done", awaitEnd(control).get("state"));
    }

    @Test
    void aStoppedJobThatHangsIsAbandonedAndOneThatIsNotStoppedIsNot() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch abandoned = new CountDownLatch(1);
        try (WorkControl control = control(new Hanging(hanging, abandoned), LONG, SHORT)) {
            start(control);
            Thread.sleep(500);
            assertEquals(1, abandoned.getCount(), "the control");
            ask(control, JobControl.STOP);
            abandoned.await();
            hanging.countDown();
            assertEquals("done", awaitEnd(control).get("state"));
        }
    }

    /** Heeds no stop. */
    private record Hanging(CountDownLatch end, CountDownLatch abandoned)
            implements RunningJob.Work<Map<String, Object>> {
        @Override
        public Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
            try {
                end.await();
                return Map.of();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void abandon() {
            abandoned.countDown();
        }
    }
}
