package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that seals containers, and the bound on the number of containers that wait for it. */
final class ContainerSealer implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerSealer.class);

    interface Sealing {
        void seal(OpenContainer container) throws IOException;
    }

    private final Sealing sealing;
    private final Semaphore waiting;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread sealing = new Thread(task, "container-sealer");
        sealing.setDaemon(true);
        return sealing;
    });

    ContainerSealer(int maxWaiting, Sealing sealing) {
        this.sealing = sealing;
        waiting = new Semaphore(maxWaiting);
    }

    /**
     * Submits a container for sealing; waits while too many containers are queued.
     *
     * @return completes with the exception that sealing threw, or empty if it succeeded
     */
    CompletableFuture<Optional<IOException>> submit(OpenContainer container) {
        CompletableFuture<Optional<IOException>> outcome = new CompletableFuture<>();
        waiting.acquireUninterruptibly();
        thread.execute(() -> {
            Optional<IOException> failure = seal(container);
            waiting.release();
            outcome.complete(failure);
        });
        return outcome;
    }

    @SuppressWarnings("CatchingUnchecked")
    private Optional<IOException> seal(OpenContainer container) {
        try {
            sealing.seal(container);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(e);
        } catch (Throwable e) { // catches an Error too: callers would otherwise wait for the container forever
            log.error("{} could not be sealed", container, e);
            container.sealingFailed(e);
            return Optional.of(new IOException(container + " could not be sealed: " + e, e));
        }
    }

    /** Seals the waiting containers and ends the thread. */
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
