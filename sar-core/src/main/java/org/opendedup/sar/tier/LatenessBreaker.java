package org.opendedup.sar.tier;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A circuit breaker: an SSD that answers too late several times in a row is not asked for a pause, then tried again; each try that
 * fails doubles the pause. An answer is that to a whole request, and answers are in a row if each was asked for after the one before
 * it was late: requests that wait at the same time meet the same hiccup. Safe for use by many threads.
 */
final class LatenessBreaker {
    /** One late answer may be the machine's own hiccup. */
    static final int MOST_LATE_IN_A_ROW = 3;

    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private final LongSupplier nanoClock;
    private final SsdHealth listener;

    private int lateInARow;
    /** When the last of them was given up. */
    private long lateNanos;

    private long pauseNanos;
    private long pauseEndNanos;
    /** From too many late answers until one in time. */
    private volatile boolean suspended;
    /** Whether the last answer was in time: spares the lock on the good path. */
    private volatile boolean calm = true;

    /** @param nanoClock as {@link System#nanoTime} */
    LatenessBreaker(LongSupplier nanoClock, SsdHealth listener) {
        this.nanoClock = nanoClock;
        this.listener = listener;
    }

    /** Whether the SSD may be asked now. */
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
     * An answer was late.
     *
     * @param askedNanos when it was asked for
     */
    synchronized void late(long askedNanos) {
        calm = false;
        if (suspended) {
            // Others were asked for before the pause, and say nothing new.
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
        listener.suspended(Duration.ofNanos(nanos));
    }

    /**
     * An answer was in time.
     *
     * @param askedNanos when it was asked for
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

    /** Forgets what was: there is another SSD. */
    synchronized void reset() {
        boolean was = suspended;
        lateInARow = 0;
        suspended = false;
        calm = true;
        if (was) {
            listener.resumed();
        }
    }
}
