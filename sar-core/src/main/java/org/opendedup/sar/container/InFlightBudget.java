package org.opendedup.sar.container;

/** Bounds the memory of frames on their way to the disk. Those that add never wait; those about to add wait for room. */
final class InFlightBudget {
    private final long maxBytes;

    /** Guarded by this. */
    private long bytes;

    InFlightBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Waits until less than the bound is in flight. An interrupt is kept for the caller, and does not end the wait. */
    synchronized void awaitRoom() {
        boolean interrupted = false;
        while (bytes >= maxBytes) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
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
