package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets killed programs go that wait for a request. The kernel tells of a signal by INTERRUPT, once for each request, and of
 * any signal; but a program must not see EINTR from a disk for a signal it survives. So a request is abandoned only where
 * its thread is about to be killed.
 *
 * <p>What INTERRUPT cannot tell is looked for at intervals, among requests that take long: a program that is killed after it
 * was told of another signal; one whose INTERRUPT nobody reads, as every worker is busy; one whose INTERRUPT is read before
 * the worker has noted its request.
 */
final class Interrupts implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Interrupts.class);

    /** Short enough that nobody waits for a killed program. Only requests that take longer than that are looked at. */
    private static final long INTERVAL_MS = 200;

    private final List<ServedRequest> served;
    private final LateSyncs syncs;
    private final IntPredicate killed;
    /** What each of {@link #served} was at the last look. */
    private final long[] seen;

    private final ScheduledExecutorService timer;

    /**
     * @param served one for each worker
     * @param syncs what waits without a worker
     * @param killed tells whether the thread of this number has a signal waiting that ends it
     */
    Interrupts(List<ServedRequest> served, LateSyncs syncs, IntPredicate killed) {
        this.served = List.copyOf(served);
        this.syncs = syncs;
        this.killed = killed;
        this.seen = new long[served.size()];
        this.timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "fuse-interrupts");
            thread.setDaemon(true);
            return thread;
        });
    }

    void start() {
        timer.scheduleWithFixedDelay(this::look, INTERVAL_MS, INTERVAL_MS, TimeUnit.MILLISECONDS);
    }

    /** The kernel sent INTERRUPT for the request of this number. */
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
            for (int i = 0; i < seen.length; i++) {
                long unique = served.get(i).unique();
                if (unique > ServedRequest.NONE && unique == seen[i]) {
                    abandonIfKilled(served.get(i), unique);
                }
                seen[i] = unique;
            }
            syncs.look(killed);
        } catch (RuntimeException e) {
            // The next look must come.
            LOG.error("looking for killed programs", e);
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
