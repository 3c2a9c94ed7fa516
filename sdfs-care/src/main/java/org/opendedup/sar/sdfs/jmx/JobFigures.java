package org.opendedup.sar.sdfs.jmx;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** A job that is running, or the latest one of its kind, as {@code type=Jobs} shows it. The names are stable. */
record JobFigures(
        @Figure(value = "What it is, such as scrub", unit = "name")
        String kind,

        @Figure(value = "Counts the jobs of its kind since the mount, from 1", unit = "number")
        long number,

        @Figure(value = "running, done, stopped or failed", unit = "name")
        String state,

        @Figure(value = "What started it: sdfscli, JMX, the schedule, ...", unit = "name")
        String cause,

        @Figure(value = "What it does, or did last", unit = "text")
        String step,

        @Figure(value = "How much of the step is done", unit = "units of the step")
        long done,

        @Figure(value = "All that the step has to do; 0 while that is not known", unit = "units of the step")
        long of,

        @Figure(value = "Time since the step began", unit = "seconds")
        double stepSeconds,

        @Figure(value = "Time that it has run", unit = "seconds")
        double seconds,

        @Figure(value = "When it began, in UTC", unit = "ISO 8601")
        String began,

        @Figure(value = "When it ended, in UTC; empty while it runs", unit = "ISO 8601")
        String ended,

        @Figure(value = "Why it failed; empty if it did not", unit = "text")
        String failure) {
    static JobFigures of(String kind, JobStatus<?> status) {
        return new JobFigures(
                kind,
                status.number(),
                status.state().toString(),
                status.cause().toString(),
                status.stage(),
                status.done(),
                status.of(),
                status.stageSeconds(),
                status.seconds(),
                time(status.began()),
                time(status.ended()),
                text(status.failure()));
    }

    private static String time(@Nullable Instant time) {
        return time == null ? "" : time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String text(@Nullable Throwable failure) {
        return failure == null ? "" : Printable.line(Objects.toString(failure.getMessage(), failure.toString()));
    }
}
