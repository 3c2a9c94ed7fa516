package org.opendedup.sar.objects.reliable;

import java.util.concurrent.TimeUnit;

/**
 * Bounds the repeated requests of all callers: a store that is overloaded gets a tenth more requests, not many times as
 * many. Source: Beyer et al., Site Reliability Engineering, chapter 21, "retry budget". Safe for use by many threads.
 */
final class RetryBudget {
    /** A burst: as many as eight lanes make in eight tries. */
    private static final double MOST = 64;

    private static final double PER_ANSWER = 0.1;
    /** So that a store which does not answer at all is asked again, too. */
    private static final double PER_SECOND = 1;

    private double left = MOST;
    private long atNs;

    RetryBudget(long nowNs) {
        atNs = nowNs;
    }

    synchronized void answered() {
        left = Math.min(MOST, left + PER_ANSWER);
    }

    /** Takes a repetition out of the budget; returns false if it has none. */
    synchronized boolean take(long nowNs) {
        left = Math.min(MOST, left + PER_SECOND * (nowNs - atNs) / TimeUnit.SECONDS.toNanos(1));
        atNs = nowNs;
        if (left < 1) {
            return false;
        }
        left--;
        return true;
    }
}
