package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.cli.report.CheckText;
import org.opendedup.sar.volume.VolumeCheck;

/** A job that checks the mounted volume. */
final class CheckJob implements BackgroundJob, CheckProgress {
    /** What the job does now. */
    private record Step(String name, long done, long of, long beganNanos) {}

    private final VolumeCheck check;
    private final long startNanos = System.nanoTime();
    private volatile boolean stopping;
    private volatile Step step = new Step("waiting", 0, 0, startNanos);
    private volatile StoredVolume.@Nullable Report result;

    CheckJob(VolumeCheck check) {
        this.check = check;
    }

    @Override
    public void run() throws IOException {
        result = check.run(this);
    }

    @Override
    public void at(String now, long done, long of) throws InterruptedIOException {
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
        StoredVolume.Report found = result;
        if (found != null) {
            report.put("report", CheckText.values(found));
        }
        return report;
    }
}
