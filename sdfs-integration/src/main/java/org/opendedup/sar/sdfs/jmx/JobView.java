package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;

/**
 * The attributes and operations that the beans of all kinds of jobs have in common.
 *
 * @param <R> what a job reports
 */
abstract class JobView<R> {
    private final Jobs<R> jobs;
    private final Starter<R> starter;

    /** Starts a job with the default settings. */
    @FunctionalInterface
    interface Starter<R> {
        /** @throws IOException if none may run; the message says why */
        Optional<JobStatus<R>> start(Cause cause) throws IOException;
    }

    JobView(Jobs<R> jobs, Starter<R> starter) {
        this.jobs = jobs;
        this.starter = starter;
    }

    public boolean isRunning() {
        return jobs.running().isPresent();
    }

    /** Returns the job whose end the bean shows: the latest one, unless it is running. */
    Optional<JobStatus<R>> last() {
        return jobs.latest().filter(status -> !status.isRunning());
    }

    final Optional<R> lastReport() {
        return last().map(JobStatus::report);
    }

    public String getLastState() {
        return last().map(JobStatus::state).map(JobState::toString).orElse("");
    }

    public String getLastEnded() {
        return last().map(JobStatus::ended)
                .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS))
                .map(Instant::toString)
                .orElse("");
    }

    public final void start() {
        if (Beans.call(() -> starter.start(Cause.JMX)).isEmpty()) {
            throw new IllegalStateException("a " + jobs.name() + " is running already");
        }
    }

    public final void stop() {
        boolean unused = jobs.stop(Cause.JMX);
    }
}
