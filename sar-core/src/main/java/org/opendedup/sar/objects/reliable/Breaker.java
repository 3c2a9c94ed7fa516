package org.opendedup.sar.objects.reliable;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps requests from a store that does not answer: after several failures in a row it opens, and only one request at a
 * time is let through now and then, to see whether the store answers again. Source: Nygard, Release It!, "circuit
 * breaker". Safe for use by many threads.
 */
final class Breaker {
    private static final Logger log = LoggerFactory.getLogger(Breaker.class);

    /** Failures in a row; more than a store shows that loses one request in twenty, in 10^13 requests. */
    static final int FAILURES = 10;

    private static final long FIRST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

    /** What it does with a request. */
    enum State {
        /** Lets all through. */
        CLOSED,
        /** Refuses all. */
        OPEN,
        /** One is on its way, and decides; refuses the others. */
        TRIAL
    }

    private final String store;
    private State state = State.CLOSED;
    private int failures;
    private long pauseNs = FIRST_PAUSE_NS;
    private long openUntilNs;
    private long timesOpened;
    /** When it opened; of no meaning while it is closed. */
    private long openedNs;

    Breaker(String store) {
        this.store = store;
    }

    /** Returns whether a request may be made now. If so, one of the three calls below must follow it. */
    synchronized boolean passes(long nowNs) {
        if (state == State.OPEN && nowNs - openUntilNs >= 0) {
            state = State.TRIAL;
            return true;
        }
        return state == State.CLOSED;
    }

    /** The store answered, in whatever way. */
    synchronized void answered() {
        if (state != State.CLOSED) {
            log.info("{} answers again", store);
            state = State.CLOSED;
            pauseNs = FIRST_PAUSE_NS;
        }
        failures = 0;
    }

    /** The store did not answer, or cannot now. */
    synchronized void failed(long nowNs, String reason) {
        failures++;
        if (state == State.TRIAL) {
            pauseNs = Math.min(LONGEST_PAUSE_NS, 2 * pauseNs);
            open(nowNs);
        } else if (state == State.CLOSED && failures >= FAILURES) {
            log.warn("{} has not answered {} requests in a row: {}", store, failures, reason);
            timesOpened++;
            openedNs = nowNs;
            open(nowNs);
        }
    }

    private void open(long nowNs) {
        state = State.OPEN;
        openUntilNs = nowNs + pauseNs;
    }

    /** The request ended without saying anything about the store: its bytes could not be read, for example. */
    synchronized void neither(long nowNs) {
        if (state == State.TRIAL) {
            open(nowNs);
        }
    }

    synchronized State state() {
        return state;
    }

    /** Returns for how long it is not closed; 0 if it is. */
    synchronized long openNs(long nowNs) {
        return state == State.CLOSED ? 0 : nowNs - openedNs;
    }

    synchronized long timesOpened() {
        return timesOpened;
    }
}
