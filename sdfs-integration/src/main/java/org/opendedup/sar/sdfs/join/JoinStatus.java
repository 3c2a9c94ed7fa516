package org.opendedup.sar.sdfs.join;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.join.JoinProgress.Phase;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;

/**
 * How far an exact pass is, or how it ended.
 *
 * @param phase what it does; the next two figures count its units
 * @param seconds time that it ran
 * @param report null unless it is done
 * @param failure null unless it failed
 */
public record JoinStatus(
        JobState state,
        Cause cause,
        Phase phase,
        long done,
        long of,
        double seconds,
        @Nullable JoinReport report,
        @Nullable Throwable failure) {}
