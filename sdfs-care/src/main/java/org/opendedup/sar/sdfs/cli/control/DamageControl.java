package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.DamageText;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.volume.care.DamageReport;

/** The daemon's side of {@code sdfscli VOLUME damaged}. The list is a job. */
public final class DamageControl extends JobControl<DamageReport> implements Closeable {
    public static final String COMMAND = "damaged";

    /** In the report of a list that is done. */
    public static final String LIST = "list";

    private final DamageSource source;
    private final AttendedJobs<DamageReport> jobs;

    /** @param volume name of the volume */
    public DamageControl(String volume, DamageSource source) {
        this(source, new AttendedJobs<>(volume, "list of damage"));
    }

    private DamageControl(DamageSource source, AttendedJobs<DamageReport> jobs) {
        super(COMMAND, jobs);
        this.source = source;
        this.jobs = jobs;
    }

    /** Returns the lists of damage. */
    public AttendedJobs<DamageReport> jobs() {
        return jobs;
    }

    @Override
    Optional<JobStatus<DamageReport>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return jobs.start(Cause.SDFSCLI, source::list);
    }

    @Override
    void put(JobStatus<DamageReport> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
        DamageReport found = status.report();
        if (found != null) {
            report.put(LIST, DamageText.Report.of(found));
        }
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
