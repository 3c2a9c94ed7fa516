package org.opendedup.sar.restore.lookahead;

import org.opendedup.sar.common.Threads;

/**
 * The batches of one position that are under way: one at a time is requested, planned or waits for the disk, and they
 * end in the order in which they began. Guarded by the monitor of their {@link Lookahead}.
 */
final class BatchesUnderWay {
    /**
     * Most batches under way: one is being decoded, one is read from the disk, and one is planned and waits for the
     * disk.
     */
    private static final int MOST = 3;

    private final Object monitor;
    private boolean planning;
    /** Number of batches that have begun, and number of those that have ended. */
    private long begun;

    private long ended;

    /** @param monitor guards this, and is notified when a batch ends */
    BatchesUnderWay(Object monitor) {
        this.monitor = monitor;
    }

    /** Whether another batch may be requested. */
    boolean mayRequest() {
        return !planning && begun - ended < MOST;
    }

    /** Sets whether a batch is requested, planned or waits for the disk. */
    void setPlanning(boolean now) {
        planning = now;
    }

    /** Number of batches that have begun, which is the number of the next one. */
    long begun() {
        return begun;
    }

    /** Notes that the requested batch begins. */
    void begin() {
        begun++;
    }

    /** Whether a batch is requested, or has begun and not ended. */
    boolean areAny() {
        return planning || begun > ended;
    }

    /** Number of batches that have begun and not ended. */
    long count() {
        return begun - ended;
    }

    /**
     * Waits until the batches before the one with this number have ended: the policies decide by the order of the
     * references. Policies that keep whole containers need that order even to decide what a batch contains.
     */
    void awaitTurn(long number) {
        Threads.await(monitor, () -> ended >= number);
    }

    /** Ends the first batch under way. */
    void end() {
        ended++;
        monitor.notifyAll();
    }
}
