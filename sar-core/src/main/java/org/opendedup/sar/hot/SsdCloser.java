package org.opendedup.sar.hot;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.ssd.AttachedSsd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes SSDs that are no longer in use, each in a thread of its own, because the closing of a failed SSD may hang.
 * Safe for use by many threads.
 */
final class SsdCloser {
    private static final Logger log = LoggerFactory.getLogger(SsdCloser.class);

    private final String name;
    private final Duration limit;
    private final Consumer<AttachedSsd> closed;
    /** The last closing that was started; null if there was none. */
    private volatile @Nullable FutureTask<@Nullable Void> last;

    /**
     * @param name name of the volume, for threads and log lines
     * @param limit longest wait for an SSD
     * @param closed receives each SSD that was closed, or whose closing failed
     */
    SsdCloser(String name, Duration limit, Consumer<AttachedSsd> closed) {
        this.name = name;
        this.limit = limit;
        this.closed = closed;
    }

    /** Starts to close an SSD; does not wait. */
    void start(AttachedSsd ssd) {
        startClosing(ssd);
    }

    private FutureTask<@Nullable Void> startClosing(AttachedSsd ssd) {
        FutureTask<@Nullable Void> closing = new FutureTask<>(() -> {
            try {
                ssd.close();
            } catch (IOException | RuntimeException e) {
                log.info("{}: closing the SSD failed: {}", name, e.getMessage());
                throw e;
            } finally {
                closed.accept(ssd);
            }
            return null;
        });
        last = closing;
        Thread thread = new Thread(closing, name + "-ssd-close");
        thread.setDaemon(true);
        thread.start();
        return closing;
    }

    /**
     * Closes an SSD; waits no longer than the time limit.
     *
     * @param location folder on the SSD, for messages
     * @throws IOException if closing fails, or does not end in time
     */
    void close(AttachedSsd ssd, @Nullable Path location) throws IOException {
        FutureTask<@Nullable Void> closing = startClosing(ssd);
        try {
            closing.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("the SSD at " + location + " did not close within " + limit.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while closing the SSD at " + location, e);
        } catch (ExecutionException e) {
            throw new IOException("closing the SSD at " + location + " failed: " + e.getMessage(), e);
        }
    }

    /**
     * Waits for the last closing that was started, but no longer than the time limit: the location of that SSD must not
     * be opened earlier.
     */
    void awaitLast() throws IOException {
        FutureTask<@Nullable Void> closing = last;
        if (closing != null) {
            try {
                closing.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                log.info("{}: the previously used SSD was not closed: {}", name, e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the previous SSD was being closed", e);
            }
        }
    }
}
