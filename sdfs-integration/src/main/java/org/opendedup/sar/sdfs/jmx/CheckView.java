package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** Implements {@link CheckMXBean} on {@link VolumeChecks}. */
final class CheckView extends JobView<StoredVolume.Report> implements CheckMXBean {
    private final VolumeChecks checks;

    CheckView(VolumeChecks checks) {
        super(checks, checks::start);
        this.checks = checks;
    }

    @Override
    public String getStep() {
        return checks.running().map(CheckView::step).orElse("");
    }

    private static String step(JobStatus<?> status) {
        return status.of() == 0 ? status.stage() : status.stage() + ", " + status.done() + " of " + status.of();
    }

    @Override
    public long getLastContainers() {
        return lastReport().map(StoredVolume.Report::containers).orElse(0L);
    }

    @Override
    public List<String> getLastFindings() {
        return lastReport()
                .map(report ->
                        report.findings().stream().map(VolumeChecks::line).toList())
                .orElse(List.of());
    }
}
