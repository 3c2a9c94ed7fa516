package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.Turns;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Asked;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Sync;

/**
 * Makes things durable for programs that wait for it, without keeping workers. The kernel hands out requests in the order they came:
 * where all workers wait for commits, those behind them wait too, as many commits long as it takes. So one request at most is served
 * by its worker, which is fastest for a program alone. The others are noted here: some threads store their bytes, user after user
 * in turn; one commits for all that are stored by then, and answers them.
 */
final class LateSyncs implements Closeable {
    private final FuseOperations operations;
    private final boolean workersMayServe;
    private final AtomicBoolean workerServes = new AtomicBoolean();
    /** All that are not answered, by their numbers. Who removes one answers it. */
    private final Map<Long, Parked> parked = new ConcurrentHashMap<>();

    private final Turns<Parked> toStore = new Turns<>();
    private final Queue<Parked> stored = new ConcurrentLinkedQueue<>();
    private final SyncThreads storing;
    private final SyncThreads committing;

    /** A request that waits; {@code seen} by the last look for killed programs. */
    private static final class Parked {
        final Channel channel;
        final Asked asked;
        final Sync sync;
        boolean seen;

        Parked(Channel channel, Asked asked, Sync sync) {
            this.channel = channel;
            this.asked = asked;
            this.sync = sync;
        }
    }

    /** @param workers how many serve requests: where there is one, it must never wait; as many threads store at once */
    LateSyncs(FuseOperations operations, int workers) {
        this(operations, workers > 1, new SyncThreads(workers, "fuse-store"), new SyncThreads(1, "fuse-commit"));
    }

    LateSyncs(FuseOperations operations, boolean workersMayServe, SyncThreads storing, SyncThreads committing) {
        this.operations = operations;
        this.workersMayServe = workersMayServe;
        this.storing = storing;
        this.committing = committing;
    }

    /** See {@link SyncLine#takes}; the request came through {@code channel}, and its answer goes there. */
    boolean takes(Channel channel, Asked asked, Sync sync) {
        if (workersMayServe && parked.isEmpty() && workerServes.compareAndSet(false, true)) {
            return false;
        }
        Parked request = new Parked(channel, asked, sync);
        parked.put(asked.unique(), request);
        toStore.add(asked.uid(), request);
        storing.execute(this::storeNext);
        return true;
    }

    /** The worker is done with what was not taken. */
    void served() {
        workerServes.set(false);
    }

    private void storeNext() {
        Parked next = toStore.poll();
        if (next == null) {
            return;
        }
        try {
            next.sync.store();
        } catch (IOException | RuntimeException | Error e) {
            answer(next, Errno.of(e, next.asked.what()));
            return;
        }
        stored.add(next);
        committing.execute(this::commitStored);
    }

    /** Those that came while the last commit ran share this one. */
    private void commitStored() {
        List<Parked> round = new ArrayList<>();
        for (Parked next = stored.poll(); next != null; next = stored.poll()) {
            round.add(next);
        }
        if (round.isEmpty()) {
            return;
        }
        try {
            operations.commit();
        } catch (IOException | RuntimeException | Error e) {
            int errno = Errno.of(e, "committing for " + round.size() + " that wait for it");
            round.forEach(request -> answer(request, errno));
            return;
        }
        round.forEach(this::checkAndAnswer);
    }

    private void checkAndAnswer(Parked request) {
        int errno = 0;
        try {
            request.sync.check();
        } catch (IOException | RuntimeException | Error e) {
            errno = Errno.of(e, request.asked.what());
        }
        answer(request, errno);
    }

    private void answer(Parked request, int errno) {
        if (parked.remove(request.asked.unique(), request)) {
            request.channel.answer(request.asked.unique(), errno);
        }
    }

    /** The kernel sent INTERRUPT for the request of this number. What it asked for goes on. */
    void interrupted(long unique, IntPredicate killed) {
        Parked request = parked.get(unique);
        if (request != null) {
            answerIfKilled(request, killed);
        }
    }

    /** Looks for killed programs among those that wait since the last look; see {@link Interrupts}. For one thread. */
    void look(IntPredicate killed) {
        for (Parked request : parked.values()) {
            if (request.seen) {
                answerIfKilled(request, killed);
            }
            request.seen = true;
        }
    }

    private void answerIfKilled(Parked request, IntPredicate killed) {
        int pid = request.asked.pid();
        if (pid > 0 && killed.test(pid)) {
            answer(request, Errno.EINTR);
        }
    }

    /** Returns when what was taken is done. No request comes any more. */
    @Override
    public void close() {
        storing.close();
        committing.close();
    }
}
