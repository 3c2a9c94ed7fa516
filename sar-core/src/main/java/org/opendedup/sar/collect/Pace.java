package org.opendedup.sar.collect;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/**
 * How fast collections read and write: an upper bound in bytes a second, and a pause. Both can be changed while a
 * collection is running. Safe for use by many threads.
 */
public final class Pace {
    /** Means no bound. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** Longest wait before a change of the pace is noticed, in milliseconds. */
    private static final long STEP_MS = 100;

    private volatile long bytesPerSecond = UNLIMITED;
    private volatile boolean paused;
    /** When the bytes handled so far are paid for, in nanoseconds. Used by the one collection that is running. */
    private long paidNanos = System.nanoTime();

    /** Returns the bound, in bytes a second; {@link #UNLIMITED} if there is none. */
    public long bytesPerSecond() {
        return bytesPerSecond;
    }

    /** Sets the bound. IllegalArgumentException if it is not positive. */
    public void setBytesPerSecond(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("a rate is more than 0 bytes a second, not " + bytes);
        }
        bytesPerSecond = bytes;
    }

    public boolean isPaused() {
        return paused;
    }

    /** Pauses collections after the container that is being written, or continues them. */
    public void setPaused(boolean now) {
        paused = now;
    }

    /** Whether a waiting collection should go on waiting. */
    @FunctionalInterface
    interface Patience {
        boolean goesOn();
    }

    /**
     * Waits until {@code bytes} more bytes may be handled, and while collections are paused; ends early if
     * {@code patience} ends.
     */
    void await(long bytes, Patience patience) throws InterruptedIOException {
        long now = System.nanoTime();
        // Time that passed unused does not allow a burst later.
        paidNanos = Math.max(paidNanos, now - TimeUnit.SECONDS.toNanos(1));
        long rate = bytesPerSecond;
        if (rate != UNLIMITED) {
            paidNanos += (long) (bytes / (double) rate * 1e9);
        }
        while (patience.goesOn() && (paused || bytesPerSecond != UNLIMITED && paidNanos > System.nanoTime())) {
            pause(STEP_MS);
        }
    }

    /**
     * Waits for a moment, as a collection does that looks again and again whether it may go on.
     *
     * @throws InterruptedIOException if the thread is interrupted; its interrupt flag is set again
     */
    public static void pause(long milliseconds) throws InterruptedIOException {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while collecting garbage");
        }
    }
}
