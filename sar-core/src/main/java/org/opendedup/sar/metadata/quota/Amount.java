package org.opendedup.sar.metadata.quota;

import java.time.InstantSource;

/** Bytes or files that somebody uses, and their limits; 0 is no limit. Guarded by the monitor of {@link Quotas}. */
final class Amount {
    /** What is used now, changes that are not committed included. */
    long taken;
    /** What is used besides, as it was measured last. */
    long measured;

    long soft;
    long hard;
    /** Since when the soft limit is exceeded, in milliseconds since 1970; 0: it is not. */
    long overSinceMs;

    long used() {
        return taken + measured;
    }

    /** Returns whether the limits permit {@code more} to be taken now. */
    boolean admits(long more, long graceSeconds, InstantSource clock) {
        return more <= 0 || more <= admitted(graceSeconds, clock);
    }

    /** Returns how much the limits permit to be taken now; {@link Long#MAX_VALUE} if there are none. */
    long admitted(long graceSeconds, InstantSource clock) {
        if (soft > 0 && overSinceMs != 0 && clock.millis() >= graceEndMs(graceSeconds)) {
            return Math.max(0, soft - used());
        }
        return hard == 0 ? Long.MAX_VALUE : Math.max(0, hard - used());
    }

    /**
     * Returns whether less than 1 % of the limit may be taken now. Who writes large pieces never gets to the last byte.
     */
    boolean isReached(long graceSeconds, InstantSource clock) {
        long limit = hard > 0 ? hard : soft;
        return admitted(graceSeconds, clock) < limit / 100 + 1 && limit > 0;
    }

    /** Changes what is taken. Returns whether the soft limit became exceeded, or is not exceeded any more. */
    boolean add(long more, InstantSource clock) {
        taken += more;
        return mark(clock);
    }

    /** Begins or ends the grace time, if that is due; returns whether it was. */
    boolean mark(InstantSource clock) {
        boolean isOver = soft > 0 && used() > soft;
        if (isOver == (overSinceMs != 0)) {
            return false;
        }
        overSinceMs = isOver ? clock.millis() : 0;
        return true;
    }

    long graceEndMs(long graceSeconds) {
        return overSinceMs + graceSeconds * 1000;
    }

    /** Returns what may still be taken by the soft limit, or by the hard one if there is no soft one. */
    long left() {
        return Math.max(0, shownLimit() - used());
    }

    /** Returns the soft limit, or the hard one if there is none; 0 if there is none of both. */
    long shownLimit() {
        return soft > 0 ? soft : hard;
    }
}
