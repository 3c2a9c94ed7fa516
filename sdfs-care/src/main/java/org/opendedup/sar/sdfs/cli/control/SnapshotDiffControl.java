package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.report.ChangeReport;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.DiffReport;

/**
 * The daemon's side of {@code sdfscli VOLUME snapshot diff}. A comparison is a job, and the command fetches what it
 * finds, some changes at a time: the job waits for it, so that any number of them takes little memory.
 */
public final class SnapshotDiffControl extends JobControl<DiffReport> implements Closeable {
    public static final String COMMAND = "snapshot-diff";
    /** Name of the job in messages. */
    public static final String JOB = "comparison of snapshots";

    /** Returns the report of a job, and the next changes that it found. */
    public static final String NEXT = "next";

    /** In the reply to {@link #NEXT}: a list of {@link ChangeReport}. */
    public static final String CHANGES = "changes";
    /** In the reply to {@link #NEXT}: whether others may follow. */
    public static final String MORE = "more";

    public static final String FROM = "from";
    /** Without it the present state. */
    public static final String TO = "to";

    /** Changes of one reply, and that wait for it. */
    private static final int SOME = 1000;

    private static final long WAIT_MS = 200;

    private final SnapshotSource snapshots;
    private final AttendedJobs<DiffReport> jobs;
    /** The latest comparison. */
    private volatile @Nullable Comparison latest;

    /** A comparison, and what it found that the command has not fetched yet. */
    private record Comparison(long number, BlockingQueue<Change> found) {}

    /** @param volume name of the volume */
    public SnapshotDiffControl(String volume, SnapshotSource snapshots) {
        this(snapshots, new AttendedJobs<>(volume, JOB));
    }

    private SnapshotDiffControl(SnapshotSource snapshots, AttendedJobs<DiffReport> jobs) {
        super(COMMAND, jobs);
        this.snapshots = snapshots;
        this.jobs = jobs;
    }

    /** Returns the comparisons. */
    public Jobs<?> jobs() {
        return jobs;
    }

    @Override
    Optional<JobStatus<DiffReport>> start(ControlArguments arguments) throws IOException {
        String from = arguments.text(FROM);
        String to = arguments.textIfAny(TO);
        arguments.end();
        var found = new ArrayBlockingQueue<Change>(SOME);
        Optional<JobStatus<DiffReport>> started =
                jobs.start(Cause.SDFSCLI, job -> snapshots.diff(from, to, job, change -> put(change, found, job)));
        started.ifPresent(status -> latest = new Comparison(status.number(), found));
        return started;
    }

    private static void put(Change change, BlockingQueue<Change> found, RunningJob<?> job) throws IOException {
        try {
            while (!found.offer(change, WAIT_MS, TimeUnit.MILLISECONDS)) {
                job.at("paths", 0, 0);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    @Override
    void put(JobStatus<DiffReport> status, Map<String, Object> report) {
        JobReport.putSteps(status, report);
        DiffReport did = status.report();
        if (did != null) {
            report.putAll(Json.values(did));
        }
    }

    @Override
    Map<String, Object> other(String action, ControlArguments arguments) throws IOException {
        if (!action.equals(NEXT)) {
            return super.other(action, arguments);
        }
        long number = arguments.number("number", -1);
        arguments.end();
        Map<String, Object> report = numbered(number);
        Comparison comparison = latest;
        if (comparison == null || comparison.number != number) {
            throw new IOException("there is no " + JOB + " number " + number + " any more");
        }
        // Its state was asked for before the changes: those of one that has ended are complete.
        boolean isRunning = report.get("ended") == null;
        List<ChangeReport> some = some(comparison.found);
        report.put(CHANGES, some);
        report.put(MORE, isRunning || !comparison.found.isEmpty());
        return report;
    }

    private static List<ChangeReport> some(BlockingQueue<Change> found) throws IOException {
        List<Change> some = new ArrayList<>();
        try {
            Change first = found.poll(WAIT_MS, TimeUnit.MILLISECONDS);
            if (first != null) {
                some.add(first);
                found.drainTo(some, SOME - 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        return some.stream().map(ChangeReport::of).toList();
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
