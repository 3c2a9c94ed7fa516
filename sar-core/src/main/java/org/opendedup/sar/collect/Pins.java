package org.opendedup.sar.collect;

import java.io.InterruptedIOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps chunks for operations that plan once what they read for hours: while one of them has a pin, no chunk is
 * collected. So a restore finds the chunks of its plan although files may change meanwhile. Safe for use by many
 * threads.
 */
public final class Pins {
    /** A pin; to be closed by any thread. */
    public interface Pin extends AutoCloseable {
        @Override
        void close();
    }

    private int pins;
    private boolean isCollecting;

    /**
     * Returns a pin. Waits until the containers that are being collected now are done, some seconds: what is planned
     * after that stays until the pin is closed.
     */
    public synchronized Pin pin() throws InterruptedIOException {
        // First of all: the collector begins nothing new meanwhile.
        pins++;
        try {
            while (isCollecting) {
                wait();
            }
        } catch (InterruptedException e) {
            unpin();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the garbage collector");
        }
        AtomicBoolean isOpen = new AtomicBoolean(true);
        return () -> {
            if (isOpen.compareAndSet(true, false)) {
                unpin();
            }
        };
    }

    private synchronized void unpin() {
        pins--;
    }

    /** Returns whether there is a pin, so that nothing can be collected. */
    public synchronized boolean exist() {
        return pins > 0;
    }

    /**
     * Begins to collect, or to heal, some containers. Returns false if there is a pin; else {@link #end} must follow.
     */
    public synchronized boolean tryBegin() {
        if (pins > 0) {
            return false;
        }
        isCollecting = true;
        return true;
    }

    /** Ends what {@link #tryBegin} began. */
    public synchronized void end() {
        isCollecting = false;
        notifyAll();
    }
}
