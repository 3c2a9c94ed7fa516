package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.report.CheckText;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** The daemon's side of {@code sdfscli VOLUME check}. */
public final class CheckControl extends JobControl<StoredVolume.Report> {
    public static final String COMMAND = "check";

    private final VolumeChecks checks;

    public CheckControl(VolumeChecks checks) {
        super(COMMAND, checks);
        this.checks = checks;
    }

    @Override
    Optional<JobStatus<StoredVolume.Report>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return checks.start(Cause.SDFSCLI);
    }

    @Override
    void put(JobStatus<StoredVolume.Report> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
        StoredVolume.Report found = status.report();
        if (found != null) {
            report.put("report", CheckText.Report.of(found));
        }
    }
}
