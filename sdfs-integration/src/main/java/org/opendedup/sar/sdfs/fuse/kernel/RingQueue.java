package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that serve the requests of one processor, each with one entry in the kernel's queue. The kernel gives a
 * request to the entry that became free last, so threads that are not needed are not woken, and their memory is not
 * used.
 *
 * <p>A request for which no entry is free waits in the kernel until a thread of this queue answers another one, even if
 * threads of other queues are free. An entry that is added meanwhile would not get it (seen in Linux 6.18). Therefore
 * all threads are there from the beginning, and one of them never waits for other requests of the kernel.
 */
final class RingQueue implements RingWorker.Place {
    private static final Logger LOG = LoggerFactory.getLogger(RingQueue.class);

    private final RingService service;
    private final int processor;
    private final int reserved;
    /** Entries that the kernel has, one for each thread. Guarded by this. */
    private int entries;
    /** Threads that wait until the kernel has sent other requests. Guarded by this. */
    private int waiting;

    /** @param reserved threads that never wait for other requests of the kernel */
    RingQueue(RingService service, int processor, int reserved) {
        this.reserved = reserved;
        this.service = service;
        this.processor = processor;
    }

    /**
     * Adds a thread.
     *
     * @return completes when it is ready for requests; with false if it cannot serve
     */
    CompletableFuture<Boolean> add() {
        return start(null, RingWorker.NONE).thenApply(this::added);
    }

    private synchronized boolean added(boolean ready) {
        entries += ready ? 1 : 0;
        return ready;
    }

    private CompletableFuture<Boolean> start(@Nullable RingEntry present, long inherited) {
        service.listener().starts();
        try {
            RingMemory.Cell cell = service.memory().take();
            RingEntry entry = present != null
                    ? present
                    : new RingEntry(processor, service.memory().mapForKernel(cell));
            RingWorker worker = new RingWorker(service, entry, cell, inherited, this);
            Thread thread = new Thread(worker, "fuse-ring-" + processor);
            thread.setDaemon(true);
            thread.start();
            return worker.begun();
        } catch (IOException | OutOfMemoryError e) {
            LOG.warn("no further thread serves processor {}", processor, e);
            service.listener().ended(false);
            return CompletableFuture.completedFuture(false);
        }
    }

    @Override
    public boolean replace(RingEntry entry, long unique) {
        return start(entry, unique).join();
    }

    @Override
    public synchronized boolean mayWaitForRequests() {
        if (waiting >= entries - reserved) {
            return false;
        }
        waiting++;
        return true;
    }

    @Override
    public synchronized void hasWaitedForRequests() {
        waiting--;
    }
}
