package org.opendedup.sar.sdfs.check;

import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** The checks of a volume in use that were asked for. Each finding is a line in the log. */
public final class VolumeChecks extends Jobs<StoredVolume.Report> {
    /** Findings of which each has a line in the log. */
    private static final int MOST_LINES = 100;

    private final Source source;

    /** Checks the volume. */
    @FunctionalInterface
    public interface Source {
        /** @throws java.io.InterruptedIOException if {@code progress} stopped it */
        StoredVolume.Report run(Progress progress) throws IOException;
    }

    /** @param volume name of the volume */
    public VolumeChecks(String volume, Source source, Clock clock) {
        super(volume, "check", Lives.ATTENDED, clock);
        this.source = source;
    }

    /** Starts a check, as {@link Jobs#start}. */
    public Optional<JobStatus<StoredVolume.Report>> start(Cause cause) throws IOException {
        return start(cause, () -> new RunningJob.Plan<>("a check started", "waiting", null, source::run));
    }

    @Override
    protected void ended(JobStatus<StoredVolume.Report> status) {
        super.ended(status);
        StoredVolume.Report report = status.report();
        if (report == null) {
            return;
        }
        List<Finding> findings = report.findings();
        findings.stream().limit(MOST_LINES).forEach(finding -> log().warn("volume {}: {}", volume(), line(finding)));
        if (findings.size() > MOST_LINES) {
            log().warn("volume {}: and {} more findings", volume(), findings.size() - MOST_LINES);
        }
    }

    @Override
    protected String words(JobStatus<StoredVolume.Report> status) {
        StoredVolume.Report report = status.report();
        return report == null ? "" : report.containers() + " containers checked";
    }

    /** Returns all of a finding on one line. */
    public static String line(Finding finding) {
        return finding.severity() + ": " + finding.what() + (finding.mend().isEmpty() ? "" : "; " + finding.mend());
    }
}
