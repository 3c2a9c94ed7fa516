package org.opendedup.sar.disk;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How fast work in the background, such as collections, reads and writes: an upper bound in bytes a second, and a
 * pause. Both can be changed while the work is running. The bound does not hold while somebody waits for space. Safe
 * for use by many threads.
 */
public final class Pace {
    /** Means no bound. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** Longest wait before a change of the pace is noticed, in milliseconds. */
    private static final long STEP_MS = 100;

    private volatile long bytesPerSecond = UNLIMITED;
    private volatile boolean paused;
    /** How many wait for what the work gives back. */
    private final AtomicInteger waiting = new AtomicInteger();
    /** When the bytes handled so far are paid for, in nanoseconds. Used by the one job that is running. */
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

    /** Pauses the work after the container at hand, or continues it. */
    public void setPaused(boolean now) {
        paused = now;
    }

    /** Lifts the bound until {@link #endHurry}, because somebody waits for space. A pause stays. */
    public void hurry() {
        waiting.incrementAndGet();
    }

    /** Ends what one call of {@link #hurry} began. */
    public void endHurry() {
        waiting.decrementAndGet();
    }

    /** Returns whether somebody waits for space; if not, the work has the last place at the disk. */
    public boolean isWaitedFor() {
        return waiting.get() > 0;
    }

    /** Returns the bound that is in force now. */
    private long rate() {
        return isWaitedFor() ? UNLIMITED : bytesPerSecond;
    }

    /** Whether waiting work should go on waiting. */
    @FunctionalInterface
    public interface Patience {
        boolean goesOn();
    }

    /**
     * Waits until {@code bytes} more bytes may be handled, and while the work is paused; ends early if {@code patience}
     * ends.
     */
    public void await(long bytes, Patience patience) throws InterruptedIOException {
        long now = System.nanoTime();
        // Time that passed unused does not allow a burst later.
        paidNanos = Math.max(paidNanos, now - TimeUnit.SECONDS.toNanos(1));
        long rate = rate();
        if (rate != UNLIMITED) {
            paidNanos += (long) (bytes / (double) rate * 1e9);
        }
        while (patience.goesOn() && (paused || rate() != UNLIMITED && paidNanos > System.nanoTime())) {
            pause(STEP_MS);
        }
    }

    /**
     * Waits for a moment, as work does that looks again and again whether it may go on.
     *
     * @throws InterruptedIOException if the thread is interrupted; its interrupt flag is set again
     */
    public static void pause(long milliseconds) throws InterruptedIOException {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while work in the background waited");
        }
    }
}
