package org.opendedup.sar.sdfs.heal;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;

/**
 * How far a pass is, or how it ended.
 *
 * @param number counts the passes of this mount that were asked for, from 1
 * @param chunks chunks that were known to be damaged when it began
 * @param report what it did so far
 * @param seconds time that it ran
 * @param ended null while it runs
 * @param failure null unless it failed
 */
public record HealStatus(
        long number,
        JobState state,
        Cause cause,
        long chunks,
        HealReport report,
        double seconds,
        Instant began,
        @Nullable Instant ended,
        @Nullable Throwable failure) {}
