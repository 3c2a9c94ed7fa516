package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.DamageItems;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.volume.care.DamageReport;

/**
 * The daemon's side of {@code sdfscli VOLUME damaged}. The list is a job; when it is done, the action {@value #ITEMS}
 * returns it in pieces, since a message is bounded.
 */
public final class DamageControl extends JobControl<DamageReport> implements Closeable {
    public static final String COMMAND = "damaged";
    public static final String ITEMS = "items";

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

    @Override
    Optional<JobStatus<DamageReport>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return jobs.start(source::list);
    }

    @Override
    void put(JobStatus<DamageReport> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
    }

    @Override
    Map<String, Object> other(String action, ControlArguments arguments) throws IOException {
        if (!action.equals(ITEMS)) {
            return super.other(action, arguments);
        }
        long number = arguments.number("number", -1);
        long from = arguments.number("from", 0);
        arguments.end();
        // Fails if another list was begun since: its result takes the place of this one.
        var unused = numbered(number);
        DamageReport report = jobs.numbered(number)
                .map(JobStatus::report)
                .orElseThrow(() -> new IOException("the list of damage is not complete"));
        return DamageItems.page(report, from);
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
