package org.opendedup.sar.hot.promotion;

import java.util.function.LongSupplier;

/**
 * Lets one background thread read only while the disk is otherwise idle, and ends its waits on closing. Any thread may
 * close it.
 */
final class IdleDisk {
    private static final int IDLE_MILLIS = 200;

    private final LongSupplier diskUse;
    /** Used by the background thread only. */
    private long lastUse = Long.MIN_VALUE;

    /** Guards waiting only. */
    private final Object pause = new Object();

    private volatile boolean closed;

    /** @param diskUse a number that changes with every use of the disk by others */
    IdleDisk(LongSupplier diskUse) {
        this.diskUse = diskUse;
    }

    /** Waits; returns false if the thread must end. */
    boolean pause(int millis) {
        synchronized (pause) {
            try {
                if (!closed) {
                    pause.wait(millis);
                }
            } catch (InterruptedException e) {
                // This thread is interrupted only to end it.
                closed = true;
            }
            return !closed;
        }
    }

    void pauseOrStop(int millis) throws PromotionStopped {
        if (!pause(millis)) {
            throw PromotionStopped.closing();
        }
    }

    /**
     * Waits until the disk was unused for a while; returns at once if it was not used since the last call.
     *
     * @throws PromotionStopped if the thread must end
     */
    void await() throws PromotionStopped {
        if (closed) {
            throw PromotionStopped.closing();
        }
        long before = diskUse.getAsLong();
        while (before != lastUse) {
            lastUse = before;
            pauseOrStop(IDLE_MILLIS);
            before = diskUse.getAsLong();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** Ends every wait. */
    void close() {
        closed = true;
        synchronized (pause) {
            pause.notifyAll();
        }
    }
}
