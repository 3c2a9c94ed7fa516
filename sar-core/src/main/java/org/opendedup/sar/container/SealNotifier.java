package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.FrameTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the listener of sealed containers, in one thread: a commit does not wait for the index, also not for one
 * whose disk hangs. Of a container that waits, only the id is kept.
 */
final class SealNotifier implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SealNotifier.class);

    private final SealListener listener;
    private final Tables tables;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread notifying = new Thread(task, "container-sealed");
        notifying.setDaemon(true);
        return notifying;
    });

    /** Has the frame tables of sealed containers. */
    @FunctionalInterface
    interface Tables {
        FrameTable of(long container) throws IOException;
    }

    /** Starts the thread. */
    SealNotifier(SealListener listener, Tables tables) {
        this.listener = listener;
        this.tables = tables;
    }

    /** Notifies the listener of a container later. */
    void sealed(long container) {
        thread.execute(() -> {
            try {
                listener.sealed(container, tables.of(container).encodeWithSalt());
            } catch (CorruptionException e) {
                log.debug("container {} is gone, or cannot be read, and is not in the index", container, e);
            } catch (IOException | RuntimeException e) {
                log.error("container {} is sealed, but not yet in the index: {}", container, e.getMessage(), e);
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
