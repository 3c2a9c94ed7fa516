package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the requests of a mount over io_uring (Linux 6.14). FORGET, INTERRUPT and notifications still go over the
 * descriptor of the device.
 */
final class Rings implements Closeable {
    private static final int F_DUPFD_CLOEXEC = 1030;
    /** A queue that no kernel has. */
    private static final int NO_QUEUE = 0xffff;

    private static final int CALLS_PER_LOOK_AT_MEMORY = 10;

    private static final Logger LOG = LoggerFactory.getLogger(Rings.class);

    private final Libc libc;
    private final RingPlan plan;
    private final int device;
    private final RingMemory memory;
    private final DataThreads data;
    private final UnboundThreads processors;
    // Guarded by this.

    /** Belongs to the thread that calls {@link #tidy}, until {@link #close}. */
    private @Nullable IoRing waker;

    private int calls;
    private boolean closed;

    private Rings(Libc libc, RingPlan plan, int device, RingMemory memory) {
        this.libc = libc;
        this.plan = plan;
        this.device = device;
        this.memory = memory;
        this.data = new DataThreads(plan.dataThreads());
        this.processors = new UnboundThreads(libc);
    }

    /**
     * Takes what is needed to serve, before the kernel is told so.
     *
     * @param device descriptor of the FUSE device, which is duplicated
     */
    static Rings open(Libc libc, RingPlan plan, int device) throws IOException {
        IoRing.open(libc).close();
        RingMemory memory = new RingMemory(libc, plan.largeEntries());
        int duplicate = libc.functions().fcntl(device, F_DUPFD_CLOEXEC, 0);
        if (duplicate < 0) {
            IOException failure = libc.failure("duplicating the descriptor of the FUSE device");
            memory.close();
            throw failure;
        }
        return new Rings(libc, plan, duplicate, memory);
    }

    /**
     * Starts the threads. The kernel sends no request before all queues have one.
     *
     * @return false if a queue has none: call {@link #refuse}
     */
    boolean start(
            FuseOperations operations,
            Agreement agreement,
            LateSyncs syncs,
            BackingFiles backings,
            LongConsumer interrupts,
            List<ServedRequest> served,
            RingService.Listener listener) {
        RingService service = new RingService(
                libc,
                device,
                memory,
                operations,
                agreement,
                syncs,
                backings,
                data,
                processors,
                interrupts,
                served,
                listener);
        List<List<CompletableFuture<Boolean>>> begun = new ArrayList<>();
        for (int i = 0; i < plan.queues(); i++) {
            RingQueue queue = new RingQueue(service, i, plan.reserved());
            begun.add(Stream.generate(queue::add).limit(plan.threadsOf(i)).toList());
        }
        // Waits for all threads, also after a failure. The kernel needs one of each queue.
        return begun.stream().map(Rings::anyBegins).reduce(true, Boolean::logicalAnd);
    }

    private static boolean anyBegins(List<CompletableFuture<Boolean>> threads) {
        return threads.stream().map(CompletableFuture::join).reduce(false, Boolean::logicalOr);
    }

    /**
     * Makes the kernel send its requests over the descriptor of the device: an entry that it refuses does. Threads that
     * have begun wait until the file system is unmounted.
     */
    void refuse() throws IOException {
        try (IoRing ring = IoRing.open(libc)) {
            RingCommand.register(ring.command(), device, NO_QUEUE, 0);
            ring.submitAndAwait();
        }
    }

    RingPlan plan() {
        return plan;
    }

    long bufferBytes() {
        return plan.bufferBytes();
    }

    /**
     * Frees threads that have become bound to a processor, and memory that was not used for a while. To be called by
     * one thread, a few times a second.
     */
    synchronized void tidy() {
        if (closed) {
            return;
        }
        processors.look();
        if (++calls % CALLS_PER_LOOK_AT_MEMORY != 0) {
            return;
        }
        try {
            if (waker == null) {
                waker = IoRing.open(libc);
            }
            memory.wakeIdle(waker);
        } catch (IOException e) {
            LOG.warn("memory of requests is not given back", e);
        }
    }

    /** Frees everything. No thread may run any more. */
    @Override
    public synchronized void close() {
        closed = true;
        data.close();
        if (waker != null) {
            waker.close();
        }
        memory.close();
        libc.functions().close(device);
    }
}
