package org.opendedup.sar.container;

import java.io.Closeable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that seals containers, and the bound on those that wait for it. */
final class ContainerSealer implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerSealer.class);

    private final Consumer<OpenContainer> seal;
    private final Semaphore waiting;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread sealing = new Thread(task, "container-sealer");
        sealing.setDaemon(true);
        return sealing;
    });

    ContainerSealer(int maxWaiting, Consumer<OpenContainer> seal) {
        this.seal = seal;
        waiting = new Semaphore(maxWaiting);
    }

    /** Has a container sealed; waits while too many are waiting. */
    @SuppressWarnings("CatchingUnchecked")
    void submit(OpenContainer container) {
        waiting.acquireUninterruptibly();
        thread.execute(() -> {
            try {
                seal.accept(container);
            } catch (Throwable e) { // an Error, too: whoever waits for the container would wait for ever
                log.error("{} could not be sealed", container, e);
                container.sealingFailed(e);
            } finally {
                waiting.release();
            }
        });
    }

    /** Seals those that wait, and ends. */
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
