package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;

/**
 * Bounds the memory of frames on their way to the disk. Those that add never wait; those about to add wait for room, unless the
 * disk is full: then nothing leaves, and they are refused.
 */
final class InFlightBudget {
    private final long maxBytes;

    /** Guarded by this. */
    private long bytes;
    /** How many containers can't be written for want of space. Guarded by this. */
    private int shortages;
    /** Why the last of them can't. Guarded by this. */
    private @Nullable NoSpaceException shortage;

    InFlightBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Waits until less than the bound is in flight. An interrupt is kept for the caller, and does not end the wait.
     *
     * @throws NoSpaceException if there is no room, and there will be none before the disk has space
     */
    synchronized void awaitRoom() throws IOException {
        boolean interrupted = false;
        try {
            while (bytes >= maxBytes) {
                if (shortage != null) {
                    throw Failures.again("too much waits for space", shortage);
                }
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Tells that one more container's frames stay where they are, until {@link #endShortage}. */
    synchronized void beginShortage(NoSpaceException cause) {
        shortages++;
        shortage = cause;
        notifyAll();
    }

    /** Undoes one {@link #beginShortage}. */
    synchronized void endShortage() {
        if (--shortages == 0) {
            shortage = null;
        }
    }

    synchronized void add(long added) {
        bytes += added;
    }

    synchronized void release(long released) {
        bytes -= released;
        if (bytes < maxBytes) {
            notifyAll();
        }
    }
}
