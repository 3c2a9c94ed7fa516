package org.opendedup.sar.sdfs.scrub;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.ScrubPhase;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;

/**
 * How far a scrub is, or how it ended.
 *
 * @param number counts the runs of this mount from 1; a scrub that is continued has a new number
 * @param continued whether this run continues a scrub that was stopped
 * @param phase what it verifies, or verified last
 * @param bytesResumed bytes that earlier runs of the same scrub had verified
 * @param bytes bytes of all containers and copies on the SSD; 0 while that is not known
 * @param totals what was verified and found, by earlier runs too
 * @param seconds time of this run
 * @param began when this run began
 * @param ended null while it runs
 * @param failure null unless it failed
 */
public record ScrubStatus(
        long number,
        JobState state,
        Cause cause,
        boolean continued,
        ScrubPhase phase,
        long bytesResumed,
        long bytes,
        ScrubTotals totals,
        double seconds,
        Instant began,
        @Nullable Instant ended,
        @Nullable Throwable failure) {}
