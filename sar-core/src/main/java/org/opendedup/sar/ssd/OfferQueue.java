package org.opendedup.sar.ssd;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * What was offered to the SSD and is not there yet: one buffer that takes offers while the writing thread works on the other. Never
 * lets an offer wait. Safe for use by many threads.
 */
final class OfferQueue {
    /** Both together hold 4 MiB: some hundredths of a second of an SSD's writing. */
    private static final int BUFFER_BYTES = 2 << 20;

    // All guarded by this.
    private OfferBuffer filling = new OfferBuffer(BUFFER_BYTES);
    private OfferBuffer writing = new OfferBuffer(BUFFER_BYTES);
    private boolean busy;
    private boolean woken;
    private boolean closed;
    private boolean ended;

    /** Chunks in both buffers; read without the lock, so that a look for a chunk mostly takes none. */
    private volatile int onTheirWay;

    /** Copies an offer into the queue. */
    synchronized OfferAnswer offer(
            long chunkId, int check, int count, int saving, byte[] data, int offset, int length) {
        if (closed) {
            return OfferAnswer.UNAVAILABLE;
        }
        if (filling.contains(chunkId) || writing.contains(chunkId)) {
            return OfferAnswer.PRESENT;
        }
        if (!filling.add(chunkId, check, count, saving, data, offset, length)) {
            return OfferAnswer.QUEUE_FULL;
        }
        onTheirWay = filling.count() + writing.count();
        notifyAll();
        return OfferAnswer.TAKEN;
    }

    /** Whether the chunk is on its way. */
    boolean contains(long chunkId) {
        if (onTheirWay == 0) {
            return false;
        }
        synchronized (this) {
            return filling.contains(chunkId) || writing.contains(chunkId);
        }
    }

    /** Has a chunk that is on its way dropped when it arrives; false if it is not on its way. */
    boolean withdraw(long chunkId) {
        if (onTheirWay == 0) {
            return false;
        }
        synchronized (this) {
            return filling.withdraw(chunkId) || writing.withdraw(chunkId);
        }
    }

    synchronized long bytes() {
        return filling.bytes() + writing.bytes();
    }

    /**
     * Waits for offers, but not longer than so, and not when woken or closed; takes all there are, for the writing thread. To be followed by
     * {@link #done}.
     */
    synchronized OfferBuffer take(long timeoutMillis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        while (filling.count() == 0 && !woken && !closed) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        woken = false;
        busy = true;
        OfferBuffer taken = filling;
        filling = writing;
        writing = taken;
        return taken;
    }

    /**
     * What was taken is on the SSD, or dropped.
     *
     * @param unwanted told of each chunk that was withdrawn meanwhile; must not wait
     */
    synchronized void done(LongConsumer unwanted) {
        writing.forEachWithdrawn(unwanted);
        writing.clear();
        onTheirWay = filling.count();
        busy = false;
        notifyAll();
    }

    /** Has {@link #take} return. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Waits until the writing thread has done everything it was given, or was woken for, before, or has ended. */
    synchronized void awaitEmpty() throws InterruptedException {
        while (!ended && (filling.count() > 0 || busy || woken)) {
            wait();
        }
    }

    /** Takes nothing any more. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** The writing thread has ended. */
    synchronized void end() {
        closed = true;
        ended = true;
        notifyAll();
    }

    /** Whether it is closed and everything was taken. */
    synchronized boolean isFinished() {
        return closed && filling.count() == 0;
    }
}
