package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals containers, in one thread: turns an open container into a sealed one. Bounds the number of containers that wait
 * for it, and knows those that found no space on the disk and are sealed later.
 */
final class ContainerSealer implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerSealer.class);

    private final Map<Long, OpenContainer> open;
    private final SealedContainers sealed;
    private final ContainerReader reader;
    private final SealListener listener;

    /** Full containers that could not be sealed because the disk was full. */
    private final Set<OpenContainer> postponed = ConcurrentHashMap.newKeySet();

    private final Semaphore waiting;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread sealing = new Thread(task, "container-sealer");
        sealing.setDaemon(true);
        return sealing;
    });

    /**
     * Starts the thread.
     *
     * @param open the open containers by id; a sealed one is removed, once it is in {@code sealed}
     * @param reader gets the frame table of each sealed container
     */
    ContainerSealer(
            int maxWaiting,
            Map<Long, OpenContainer> open,
            SealedContainers sealed,
            ContainerReader reader,
            SealListener listener) {
        this.open = open;
        this.sealed = sealed;
        this.reader = reader;
        this.listener = listener;
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
            Optional<IOException> failure = trySeal(container);
            waiting.release();
            outcome.complete(failure);
        });
        return outcome;
    }

    /** Submits the containers that could not be sealed on the full disk; called once there is space again. */
    void submitPostponed() {
        for (OpenContainer container : postponed) {
            if (postponed.remove(container)) {
                submit(container);
            }
        }
    }

    @SuppressWarnings("CatchingUnchecked")
    private Optional<IOException> trySeal(OpenContainer container) {
        try {
            seal(container);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(e);
        } catch (Throwable e) { // catches an Error too: callers would otherwise wait for the container forever
            log.error("{} could not be sealed", container, e);
            container.sealingFailed(e);
            return Optional.of(new IOException(container + " could not be sealed: " + e, e));
        }
    }

    /** Seals a container. Does nothing if it is sealed already: it may have been submitted twice. */
    private void seal(OpenContainer container) throws IOException {
        long id = container.container();
        if (!open.containsKey(id)) {
            return;
        }
        OpenContainer.SealedFile file;
        try {
            file = container.seal();
        } catch (IOException e) {
            if (container.isFailed()) {
                log.error("{} could not be sealed: {}", container, e.getMessage(), e);
            } else {
                log.debug("{} is sealed when there is space: {}", container, e.getMessage());
                postponed.add(container);
            }
            throw e;
        }
        try {
            reader.cache(id, file.table());
        } finally {
            sealed.add(id, file.fileBytes());
            open.remove(id);
        }
        try {
            listener.sealed(id, file.table().encodeWithSalt());
        } catch (IOException | RuntimeException e) {
            log.error("{} is sealed, but not yet in the index: {}", container, e.getMessage(), e);
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
