package org.opendedup.sar.objects.lease;

/**
 * The clocks of one machine. Those of two machines are never compared. Tests have clocks that only count, each at its
 * own rate.
 */
public interface LeaseClock {
    /** The system's. */
    LeaseClock SYSTEM = new LeaseClock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public long millis() {
            return System.currentTimeMillis();
        }
    };

    /**
     * A moment of a machine, by both clocks.
     *
     * @param nanos see {@link LeaseClock#nanos}
     * @param millis see {@link LeaseClock#millis}
     */
    record Moment(long nanos, long millis) {}

    /**
     * Returns the time from an unknown moment on, in nanoseconds. It may stand still while the machine is suspended.
     */
    long nanos();

    /** Returns the time of day in milliseconds. It goes on while the machine is suspended, and may be set. */
    long millis();

    default Moment now() {
        return new Moment(nanos(), millis());
    }

    /** Returns the nanoseconds since a moment, at most: the larger of what the two clocks say. For who has a lease. */
    default long mostSince(Moment moment) {
        return Math.max(leastSince(moment), (millis() - moment.millis()) * 1_000_000);
    }

    /** Returns the nanoseconds since a moment in which the machine was awake. For who waits for a lease to end. */
    default long leastSince(Moment moment) {
        return nanos() - moment.nanos();
    }
}
