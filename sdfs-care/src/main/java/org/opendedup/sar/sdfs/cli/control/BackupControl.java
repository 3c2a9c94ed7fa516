package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.BackupText;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.volume.backup.MetadataBackups;

/** The daemon's side of {@code sdfscli VOLUME metadata-backup}. A copy is a job, because its folder may be slow. */
public final class BackupControl extends JobControl<MetadataBackups.Copy> {
    public static final String COMMAND = "metadata-backup";
    public static final String LIST = "list";

    /** In the report of a job that is done: the backup. */
    public static final String MADE = "made";

    private final AttendedJobs<MetadataBackups.Copy> jobs;
    private final BackupTargets targets;

    /** @param targets makes copies */
    public BackupControl(AttendedJobs<MetadataBackups.Copy> jobs, BackupTargets targets) {
        super(COMMAND, jobs);
        this.jobs = jobs;
        this.targets = targets;
    }

    @Override
    Optional<JobStatus<MetadataBackups.Copy>> start(ControlArguments arguments) throws IOException {
        Path folder = Path.of(arguments.text("folder"));
        arguments.end();
        targets.requireApart(folder);
        return jobs.start(Cause.SDFSCLI, job -> {
            job.at(MetadataBackups.COPYING, 0, 0);
            return targets.backups().backUpTo(folder, job);
        });
    }

    @Override
    void put(JobStatus<MetadataBackups.Copy> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
        MetadataBackups.Copy copy = status.report();
        if (copy != null) {
            report.put(MADE, Json.values(BackupText.One.of(copy)));
        }
    }

    @Override
    Map<String, Object> other(String action, ControlArguments arguments) throws IOException {
        if (!action.equals(LIST)) {
            return super.other(action, arguments);
        }
        arguments.end();
        return Json.values(BackupText.All.of(
                targets.backups().automatic(), targets.backups().failures()));
    }
}
