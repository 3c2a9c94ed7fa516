package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.container.format.FrameTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the listener of sealed containers, in one thread: a commit does not wait for the index. Bounds the number of
 * containers that wait for it.
 */
final class SealNotifier implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SealNotifier.class);

    private final SealListener listener;
    private final Semaphore waiting;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread notifying = new Thread(task, "container-sealed");
        notifying.setDaemon(true);
        return notifying;
    });

    /** Starts the thread. */
    SealNotifier(int maxWaiting, SealListener listener) {
        this.listener = listener;
        waiting = new Semaphore(maxWaiting);
    }

    /** Notifies the listener of a container; waits while too many containers are queued. */
    void sealed(long container, FrameTable table) {
        waiting.acquireUninterruptibly();
        thread.execute(() -> {
            try {
                listener.sealed(container, table.encodeWithSalt());
            } catch (IOException | RuntimeException e) {
                log.error("container {} is sealed, but not yet in the index: {}", container, e.getMessage(), e);
            } finally {
                waiting.release();
            }
        });
    }

    /** Waits until the listener was notified of all containers, and ends the thread. */
    @Override
    public void close() {
        thread.shutdown();
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = thread.awaitTermination(1, TimeUnit.DAYS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
