package org.opendedup.sar.objects.reliable;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/** The time by which a store waits: tests have one that only counts. */
public interface Timer {
    /** The system's. */
    Timer SYSTEM = new Timer() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedIOException {
            try {
                TimeUnit.NANOSECONDS.sleep(nanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting to ask a store again");
            }
        }
    };

    /** Returns the time from an unknown moment on, in nanoseconds. */
    long nanos();

    /** Waits, in nanoseconds. */
    void sleep(long nanos) throws InterruptedIOException;
}
