package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;

/** The attributes that {@link GarbageCollectorMXBean} and {@link ScrubMXBean} have in common. */
abstract class JobView {
    private final PaceSetting pace;
    private final ScheduleTimer timer;

    JobView(PaceSetting pace, ScheduleTimer timer) {
        this.pace = pace;
        this.timer = timer;
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
        return timer.schedule().toString();
    }

    public final String getNext() {
        return timer.nextText();
    }
}
