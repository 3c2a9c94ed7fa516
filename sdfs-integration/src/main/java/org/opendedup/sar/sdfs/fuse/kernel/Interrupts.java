package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases killed programs that wait for a request. The kernel reports a signal by INTERRUPT: once for each request,
 * and for any signal. But a program must not get EINTR from a disk for a signal that it survives. Therefore a request
 * is abandoned only if its thread is about to be killed.
 *
 * <p>INTERRUPT alone misses three cases, so this class also checks the requests that take long, at intervals: a program
 * that is killed after INTERRUPT for another signal; an INTERRUPT that is not read because every worker is busy; and an
 * INTERRUPT that is read before the worker has noted its request.
 */
final class Interrupts implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Interrupts.class);

    /**
     * Interval between checks, in milliseconds. Short, so that a killed program ends quickly. Only requests that take
     * longer than this are checked.
     */
    private static final long INTERVAL_MS = 200;

    private final List<ServedRequest> served;
    private final LateSyncs syncs;
    private final IntPredicate killed;
    private final ScheduledExecutorService timer;

    /**
     * @param served one for each worker; other threads may change the list
     * @param syncs requests that wait without a worker
     * @param killed returns whether the thread of this number has a pending signal that ends it
     */
    Interrupts(List<ServedRequest> served, LateSyncs syncs, IntPredicate killed) {
        this.served = served;
        this.syncs = syncs;
        this.killed = killed;
        this.timer = Executors.newSingleThreadScheduledExecutor(Threads.named("fuse-interrupts"));
    }

    void start() {
        timer.scheduleWithFixedDelay(Threads.lasting(this::look), INTERVAL_MS, INTERVAL_MS, TimeUnit.MILLISECONDS);
    }

    /** Handles an INTERRUPT of the kernel for the request of this number. */
    void interrupted(long unique) {
        for (ServedRequest request : served) {
            if (request.unique() == unique) {
                abandonIfKilled(request, unique);
            }
        }
        syncs.interrupted(unique, killed);
    }

    private void look() {
        try {
            for (ServedRequest request : served) {
                long unique = request.longServed();
                if (unique != ServedRequest.NONE) {
                    abandonIfKilled(request, unique);
                }
            }
            syncs.look(killed);
        } catch (RuntimeException e) {
            // An exception would cancel all later checks.
            LOG.error("the check for killed programs failed", e);
        }
    }

    private void abandonIfKilled(ServedRequest request, long unique) {
        int pid = request.pid();
        if (pid > 0 && killed.test(pid)) {
            request.abandon(unique);
        }
    }

    @Override
    public void close() {
        timer.shutdown();
    }
}
