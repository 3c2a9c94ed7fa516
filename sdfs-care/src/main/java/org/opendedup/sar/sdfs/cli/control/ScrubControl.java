package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.cli.report.ScrubReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubRun;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** The daemon's side of {@code sdfscli VOLUME scrub}. A scrub goes on when the command that started it has ended. */
public final class ScrubControl extends JobControl<ScrubRun> {
    public static final String COMMAND = "scrub";

    private final Scrubs scrubs;
    private final StartTimes timer;

    public ScrubControl(Scrubs scrubs, StartTimes timer) {
        super(COMMAND, scrubs);
        this.scrubs = scrubs;
        this.timer = timer;
    }

    @Override
    Optional<JobStatus<ScrubRun>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return scrubs.start(Cause.SDFSCLI);
    }

    @Override
    void put(JobStatus<ScrubRun> status, Map<String, Object> report) {
        ScrubReport.put(status, scrubs, report);
    }

    @Override
    Map<String, Object> all() throws IOException {
        return ScrubReport.of(scrubs, timer);
    }

    @Override
    void set(ControlArguments arguments) throws IOException {
        PaceControl pace = PaceControl.read(arguments);
        arguments.end();
        pace.set(Cause.SDFSCLI, scrubs.pace());
    }

    @Override
    Map<String, Object> settings() {
        return JobReport.pace(scrubs.pace());
    }
}
