package org.opendedup.sar.ssd;

/** A place in the code where threads stand still until a test lets them pass; open at first. */
public final class Gate {
    private boolean closed;
    private int waiting;

    public synchronized void close() {
        closed = true;
    }

    public synchronized void open() {
        closed = false;
        notifyAll();
    }

    /** Waits until a thread stands before this. */
    synchronized void awaitOne() throws InterruptedException {
        while (waiting == 0) {
            wait();
        }
    }

    synchronized void pass() {
        boolean interrupted = false;
        waiting++;
        notifyAll();
        while (closed) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        waiting--;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
