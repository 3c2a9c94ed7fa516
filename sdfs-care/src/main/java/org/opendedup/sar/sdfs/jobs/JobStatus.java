package org.opendedup.sar.sdfs.jobs;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far a job is, or how it ended.
 *
 * @param number counts the jobs of a kind since the mount, from 1
 * @param cause who or what started it
 * @param stage what it does; once it has ended, what it did last
 * @param done units of the stage that are done
 * @param of all units of the stage; 0 while that is not known
 * @param stageSeconds time since the stage began
 * @param seconds time that it has run
 * @param ended null while it runs
 * @param report what it did or found so far; null if its kind says that only at the end
 * @param failure null unless it failed
 * @param <R> what jobs of the kind report
 */
public record JobStatus<R>(
        long number,
        JobState state,
        Cause cause,
        String stage,
        long done,
        long of,
        double stageSeconds,
        double seconds,
        Instant began,
        @Nullable Instant ended,
        @Nullable R report,
        @Nullable Throwable failure) {
    public boolean isRunning() {
        return state == JobState.RUNNING;
    }
}
