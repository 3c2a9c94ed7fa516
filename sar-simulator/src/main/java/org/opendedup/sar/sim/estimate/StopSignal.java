package org.opendedup.sar.sim.estimate;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C, while something long goes on: the work is asked to stop, and the process ends when it has said what it has. For the thread
 * that works.
 */
final class StopSignal implements AutoCloseable {
    /** The process ends then in any case. */
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

    /** Whether the process is asked to end. */
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
                // The process has begun to end since; the hook waits no longer.
                stopped = true;
            }
        }
    }
}
