package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.cli.report.IndexReport;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.join.Joins;

/**
 * The daemon's side of {@code sdfscli VOLUME index join} and {@code index stop}. A pass goes on when the command that
 * started it has ended.
 */
public final class JoinControl extends JobControl<JoinReport> {
    public static final String COMMAND = "join";

    private final Joins joins;

    public JoinControl(Joins joins) {
        super(COMMAND, joins);
        this.joins = joins;
    }

    @Override
    Optional<JobStatus<JoinReport>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return joins.start(Cause.SDFSCLI);
    }

    @Override
    void put(JobStatus<JoinReport> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
        report.putAll(Json.values(IndexReport.Join.of(status)));
    }
}
