package org.opendedup.sar.tier;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A circuit breaker: an SSD that answers too late several times in a row is not asked for a pause, then tried again; each try that
 * fails doubles the pause. Safe for use by many threads.
 */
final class LatenessBreaker {
    /** One late answer may be the machine's own hiccup. */
    static final int MOST_LATE_IN_A_ROW = 3;

    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private final LongSupplier nanoClock;
    private final SsdHealth listener;

    private int lateInARow;
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

    synchronized void late() {
        calm = false;
        lateInARow++;
        if (suspended ? pauseIsOver() : lateInARow >= MOST_LATE_IN_A_ROW) {
            pauseNanos = suspended ? Math.min(LONGEST_PAUSE.toNanos(), 2 * pauseNanos) : FIRST_PAUSE.toNanos();
            pauseEndNanos = nanoClock.getAsLong() + pauseNanos;
            suspended = true;
            listener.suspended(Duration.ofNanos(pauseNanos));
        }
    }

    void inTime() {
        if (!calm) {
            calmDown();
        }
    }

    private synchronized void calmDown() {
        if (suspended && !pauseIsOver()) {
            // An answer to what was asked before the pause.
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
