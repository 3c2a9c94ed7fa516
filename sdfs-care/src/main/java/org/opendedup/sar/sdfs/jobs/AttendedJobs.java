package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.time.Clock;
import java.util.Optional;

/**
 * Jobs of commands, each with its own work, that are stopped when their commands have ended; also those of JMX.
 *
 * @param <R> what a job reports
 */
public final class AttendedJobs<R> extends Jobs<R> {
    /**
     * @param volume name of the volume
     * @param name name of a job, for people
     */
    public AttendedJobs(String volume, String name) {
        this(volume, name, Lives.ATTENDED);
    }

    public AttendedJobs(String volume, String name, Lives lives) {
        super(volume, name, lives, Clock.systemUTC());
    }

    /** Starts a job, as {@link Jobs#start}. One that sdfscli did not start goes on until its end. */
    public Optional<JobStatus<R>> start(Cause cause, RunningJob.Work<R> work) throws IOException {
        return start(cause, () -> new RunningJob.Plan<>("a " + name() + " started", "waiting", null, work));
    }

    @Override
    protected String words(JobStatus<R> status) {
        return "";
    }
}
