package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/**
 * The attributes that {@link GarbageCollectorMXBean} and {@link ScrubMXBean} have in common.
 *
 * @param <R> what a job reports
 */
abstract class PacedJobView<R> extends JobView<R> {
    private final PaceSetting pace;
    private final StartTimes times;

    PacedJobView(Jobs<R> jobs, Starter<R> starter, PaceSetting pace, StartTimes times) {
        super(jobs, starter);
        this.pace = pace;
        this.times = times;
    }

    public final boolean isPaused() {
        return pace.isPaused();
    }

    public final void setPaused(boolean paused) {
        pace.setPaused(Cause.JMX, paused);
    }

    public final long getRateBytesPerSecond() {
        return pace.bytesPerSecond();
    }

    public final void setRateBytesPerSecond(long rateBytesPerSecond) {
        pace.setBytesPerSecond(Cause.JMX, rateBytesPerSecond);
    }

    public final String getSchedule() {
        return times.rule();
    }

    public final String getNext() {
        return times.nextText();
    }
}
