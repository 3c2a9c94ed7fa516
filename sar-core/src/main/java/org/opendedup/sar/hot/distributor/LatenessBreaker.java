package org.opendedup.sar.hot.distributor;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.opendedup.sar.hot.copies.SsdHealth;

/**
 * A circuit breaker: after several late answers in a row the SSD is not used for a pause, then tried again. Each failed
 * try doubles the pause. One answer is counted for each whole request. Late answers are in a row if each was requested
 * after the previous one was late: requests that wait at the same time suffer from the same delay. Safe for use by many
 * threads.
 */
final class LatenessBreaker {
    /** Late answers in a row that suspend the SSD. A single one may be a delay of the machine itself. */
    static final int MOST_LATE_IN_A_ROW = 3;

    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private final LongSupplier nanoClock;
    private final SsdHealth listener;

    private int lateInARow;
    /** When the last late answer was abandoned, in nanoseconds. */
    private long lateNanos;

    private long pauseNanos;
    private long pauseEndNanos;
    /** True from too many late answers until one in time. */
    private volatile boolean suspended;
    /** Whether the last answer was in time: avoids the lock in the usual case. */
    private volatile boolean calm = true;

    /** @param nanoClock clock in nanoseconds, as {@link System#nanoTime} */
    LatenessBreaker(LongSupplier nanoClock, SsdHealth listener) {
        this.nanoClock = nanoClock;
        this.listener = listener;
    }

    /** Returns whether the SSD may be used now. */
    boolean allows() {
        return !suspended || pauseIsOver();
    }

    private synchronized boolean pauseIsOver() {
        return nanoClock.getAsLong() - pauseEndNanos >= 0;
    }

    boolean isSuspended() {
        return suspended;
    }

    /**
     * Notes a late answer.
     *
     * @param askedNanos when it was requested, in nanoseconds
     */
    synchronized void late(long askedNanos) {
        calm = false;
        if (suspended) {
            // Answers requested before the pause say nothing new.
            if (askedNanos - pauseEndNanos >= 0) {
                suspendFor(Math.min(LONGEST_PAUSE.toNanos(), 2 * pauseNanos));
            }
            return;
        }
        if (lateInARow == 0 || askedNanos - lateNanos >= 0) {
            lateInARow++;
            lateNanos = nanoClock.getAsLong();
            if (lateInARow >= MOST_LATE_IN_A_ROW) {
                suspended = true;
                suspendFor(FIRST_PAUSE.toNanos());
            }
        }
    }

    private void suspendFor(long nanos) {
        pauseNanos = nanos;
        pauseEndNanos = nanoClock.getAsLong() + nanos;
        listener.onSuspended(Duration.ofNanos(nanos));
    }

    /**
     * Notes an answer in time.
     *
     * @param askedNanos when it was requested, in nanoseconds
     */
    void inTime(long askedNanos) {
        if (!calm) {
            calmDown(askedNanos);
        }
    }

    private synchronized void calmDown(long askedNanos) {
        if (suspended && askedNanos - pauseEndNanos < 0) {
            return;
        }
        reset();
    }

    /** Forgets all earlier answers, because another SSD is attached. */
    synchronized void reset() {
        boolean was = suspended;
        lateInARow = 0;
        suspended = false;
        calm = true;
        if (was) {
            listener.onResumed();
        }
    }
}
