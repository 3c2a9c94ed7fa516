package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** The attributes that {@link GarbageCollectorMXBean} and {@link ScrubMXBean} have in common. */
abstract class JobView {
    private final PaceSetting pace;
    private final StartTimes times;

    JobView(PaceSetting pace, StartTimes times) {
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
