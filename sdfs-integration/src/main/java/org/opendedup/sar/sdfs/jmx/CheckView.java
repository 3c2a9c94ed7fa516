package org.opendedup.sar.sdfs.jmx;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;

/** Implements {@link CheckMXBean} on {@link VolumeChecks}. */
record CheckView(VolumeChecks checks) implements CheckMXBean {
    @Override
    public boolean isRunning() {
        return checks.status()
                .filter(status -> status.state() == JobState.RUNNING)
                .isPresent();
    }

    @Override
    public String getStep() {
        return checks.status().map(VolumeChecks.Status::step).orElse("");
    }

    private Optional<VolumeChecks.Status> last() {
        return checks.status().filter(status -> status.state() != JobState.RUNNING);
    }

    private Optional<StoredVolume.Report> report() {
        return last().map(VolumeChecks.Status::report);
    }

    @Override
    public String getLastState() {
        return last().map(status -> status.state().toString()).orElse("");
    }

    @Override
    public String getLastEnded() {
        return last().map(VolumeChecks.Status::ended)
                .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS))
                .map(Instant::toString)
                .orElse("");
    }

    @Override
    public long getLastContainers() {
        return report().map(StoredVolume.Report::containers).orElse(0L);
    }

    @Override
    public List<String> getLastFindings() {
        return report().map(report ->
                        report.findings().stream().map(VolumeChecks::line).toList())
                .orElse(List.of());
    }

    @Override
    public void start() {
        if (!Beans.call(() -> checks.start(Cause.JMX))) {
            throw new IllegalStateException("a check is running already");
        }
    }

    @Override
    public void stop() {
        checks.stop();
    }
}
