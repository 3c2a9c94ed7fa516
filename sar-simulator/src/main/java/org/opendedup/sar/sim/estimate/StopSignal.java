package org.opendedup.sar.sim.estimate;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handles Ctrl-C during a long operation: asks the work to stop, and lets the process end after the work has printed
 * its result. For the thread that works.
 */
final class StopSignal implements AutoCloseable {
    /** Longest wait of the process for the work, in seconds. */
    private static final int PATIENCE_SECONDS = 10;

    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread hook = new Thread(this::stop, "stop");
    private volatile boolean stopped;

    StopSignal() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void stop() {
        stopped = true;
        try {
            var unused = done.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether the process is asked to end. */
    boolean isStopped() {
        return stopped;
    }

    @Override
    public void close() {
        done.countDown();
        if (!stopped) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The process has begun to end; the hook no longer waits.
                stopped = true;
            }
        }
    }
}
