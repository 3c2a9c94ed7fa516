package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.check.CheckProgress;

/** A job of several steps, of which the client shows the present one as a bar. */
final class StepJob implements BackgroundJob {
    /** What the job does. */
    @FunctionalInterface
    interface Work {
        /** @throws InterruptedIOException if {@code progress} stopped it */
        void run(CheckProgress progress) throws IOException;
    }

    /** Adds what is known of the result to a report. */
    @FunctionalInterface
    interface Result {
        void addTo(Map<String, Object> report);
    }

    /** What the job does now. */
    private record Step(String name, long done, long of, long beganNanos) {}

    private final Work work;
    private final Result result;
    private final long startNanos = System.nanoTime();
    private volatile boolean stopping;
    private volatile Step step = new Step("waiting", 0, 0, startNanos);

    /** @param result called for each report, by any thread, also before the work is done */
    StepJob(Work work, Result result) {
        this.work = work;
        this.result = result;
    }

    @Override
    public void run() throws IOException {
        work.run(this::at);
    }

    private void at(String now, long done, long of) throws InterruptedIOException {
        if (stopping) {
            throw new InterruptedIOException("stopped");
        }
        Step before = step;
        step = new Step(now, done, of, now.equals(before.name) ? before.beganNanos : System.nanoTime());
    }

    @Override
    public void stop() {
        stopping = true;
    }

    @Override
    public Map<String, Object> report() {
        long now = System.nanoTime();
        Step at = step;
        var report = new LinkedHashMap<String, Object>();
        report.put("step", at.name);
        report.put("stepDone", at.done);
        report.put("stepOf", at.of);
        report.put("stepSeconds", (now - at.beganNanos) / 1e9);
        report.put("seconds", (now - startNanos) / 1e9);
        result.addTo(report);
        return report;
    }
}
