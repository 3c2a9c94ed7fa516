package org.opendedup.sar.sdfs.jobs;

import org.opendedup.sar.disk.Pace;
import org.slf4j.Logger;

/** The pace of all jobs of a kind, as front ends set it; each change is a line in the log. Safe for many threads. */
public final class PaceSetting {
    /** Means no bound on the rate. */
    public static final long NO_BOUND = 0;

    /** Highest bound on the rate, in bytes a second. */
    public static final long BYTES_PER_SECOND_MAX = 1_000_000_000_000L;

    private final String volume;
    private final String kind;
    private final Pace pace;
    private final Logger log;

    /**
     * @param volume name of the volume
     * @param kind name of the jobs in the log
     */
    public PaceSetting(String volume, String kind, Pace pace, Logger log) {
        this.volume = volume;
        this.kind = kind;
        this.pace = pace;
        this.log = log;
    }

    public boolean isPaused() {
        return pace.isPaused();
    }

    /** Makes the jobs wait after the container at hand, or continues them. */
    public synchronized void setPaused(Cause cause, boolean paused) {
        boolean before = isPaused();
        pace.setPaused(paused);
        logChange(cause, "paused", before, paused);
    }

    /** Returns how many bytes a second the jobs may read and write; {@link #NO_BOUND} if there is no bound. */
    public long bytesPerSecond() {
        long bound = pace.bytesPerSecond();
        return bound == Pace.UNLIMITED ? NO_BOUND : bound;
    }

    /**
     * Sets how many bytes a second the jobs may read and write.
     *
     * @throws IllegalArgumentException if it is neither {@link #NO_BOUND} nor a possible bound; the message says what
     *     is allowed
     */
    public synchronized void setBytesPerSecond(Cause cause, long bytes) {
        if (bytes < NO_BOUND || bytes > BYTES_PER_SECOND_MAX) {
            throw new IllegalArgumentException("the rate is " + bytes + " bytes a second; it must be from " + NO_BOUND
                    + ", which means no bound, to " + BYTES_PER_SECOND_MAX);
        }
        long before = bytesPerSecond();
        pace.setBytesPerSecond(bytes == NO_BOUND ? Pace.UNLIMITED : bytes);
        logChange(cause, "bytesPerSecond", before, bytes);
    }

    /** Logs a change of a setting of these jobs, if it is one. */
    public void logChange(Cause cause, String name, Object before, Object after) {
        if (!after.equals(before)) {
            log.info("volume {}, by {}: {} of {} changed from {} to {}", volume, cause, name, kind, before, after);
        }
    }
}
