package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.sdfs.fuse.ErrorNumber;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.RequestLatencies.Kind;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Asked;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Sync;

/**
 * Makes data durable for waiting programs without blocking the workers. The kernel hands out requests in order of
 * arrival: if all workers waited for commits, later requests would wait for several commits. Therefore a worker serves
 * at most one sync at a time, which is fastest for a single program. The other syncs are queued here. The worker puts
 * few bytes into the intent log; for more, several threads store, one user after another in turn. One thread commits
 * for all requests that are stored by then, and answers them. Files on the fast tier have threads of their own, because
 * it may hang while everything else works.
 */
final class LateSyncs implements Closeable {
    /** Most requests of killed programs that are answered and not done: they take memory until they are. */
    static final int MAX_ABANDONED = 1024;

    /** Most requests that are checked at a time: each check reads a file of the kernel. */
    static final int MAX_CHECKS = 256;

    private final FuseFileSystem operations;
    private final boolean workersMayServe;
    private final AtomicBoolean workerServes = new AtomicBoolean();
    /** Requests that are not done, also those of killed programs, which are answered. */
    private final AtomicInteger unfinished = new AtomicInteger();

    /** All unanswered requests, by number. The thread that removes a request answers it. */
    private final Map<Long, Parked> parked = new ConcurrentHashMap<>();

    /** The requests that are checked next for killed programs. For the thread that does so. */
    private Iterator<Parked> unchecked = Collections.emptyIterator();

    private final Queue<Parked> stored = new ConcurrentLinkedQueue<>();
    private final SyncThreads inChunks;
    private final SyncThreads onFastTier;
    private final SyncThreads committing;

    /** Answers requests that their workers left to other threads. */
    @FunctionalInterface
    interface Answers {
        /** Answers the request {@code unique} by 0 or an error number. */
        void answer(long unique, int errno);
    }

    /** A waiting request; {@code seen} is true after the first check for killed programs. */
    private static final class Parked {
        final Answers answers;
        final Asked asked;
        final Sync sync;
        /** Number of steps that must end before the answer: one, or a store and a commit beside each other. */
        final AtomicInteger steps = new AtomicInteger(1);

        final long beganNanos = System.nanoTime();

        boolean seen;

        Parked(Answers answers, Asked asked, Sync sync) {
            this.answers = answers;
            this.asked = asked;
            this.sync = sync;
        }
    }

    /**
     * @param workers number of threads that serve requests; a single worker must never wait. The same number of threads
     *     store, and again for the fast tier
     */
    LateSyncs(FuseFileSystem operations, int workers) {
        this(
                operations,
                workers > 1,
                new SyncThreads(workers, "fuse-store"),
                new SyncThreads(workers, "fuse-store-fast"),
                new SyncThreads(1, "fuse-commit"));
    }

    LateSyncs(
            FuseFileSystem operations,
            boolean workersMayServe,
            SyncThreads storing,
            SyncThreads storingFast,
            SyncThreads committing) {
        this.operations = operations;
        this.workersMayServe = workersMayServe;
        inChunks = storing;
        onFastTier = storingFast;
        this.committing = committing;
    }

    /**
     * See {@link SyncLine#takes}.
     *
     * @param answers sends the answer; any thread may call it, also before this method returns
     */
    boolean takes(Answers answers, Asked asked, Sync sync) {
        if (workersMayServe && parked.isEmpty() && workerServes.compareAndSet(false, true)) {
            return false;
        }
        Parked request = new Parked(answers, asked, sync);
        unfinished.incrementAndGet();
        parked.put(asked.unique(), request);
        if (isStoredAtOnce(request)) {
            commitFor(request);
            return true;
        }
        SyncThreads threads = sync.isOnFastTier() ? onFastTier : inChunks;
        threads.execute(asked.uid(), () -> store(request));
        return true;
    }

    /** Also returns false after a failure: {@link #store} then has it again, and reports it. */
    private static boolean isStoredAtOnce(Parked request) {
        try {
            return request.sync.storeAtOnce();
        } catch (IOException | RuntimeException | Error e) {
            return false;
        }
    }

    /** See {@link SyncLine#serve}. */
    void serve(Sync sync) throws IOException {
        try {
            if (sync.storesBesideCommit()) {
                storeBesideCommit(sync);
            } else {
                sync.store();
                if (sync.needsCommit()) {
                    operations.commit();
                }
            }
            sync.check();
        } finally {
            workerServes.set(false);
        }
    }

    private void storeBesideCommit(Sync sync) throws IOException {
        FutureTask<Void> store = new FutureTask<>(() -> {
            sync.store();
            return null;
        });
        onFastTier.execute(store);
        operations.commit();
        try {
            store.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    private void store(Parked next) {
        try {
            boolean commits = next.sync.storesBesideCommit();
            if (commits) {
                next.steps.incrementAndGet();
                commitFor(next);
            }
            next.sync.store();
            if (!commits && next.sync.needsCommit()) {
                commitFor(next);
                return;
            }
        } catch (IOException | RuntimeException | Error e) {
            endStep(next, ErrorNumber.of(e, next.asked.what().get()));
            return;
        }
        endStep(next, 0);
    }

    private void commitFor(Parked request) {
        stored.add(request);
        committing.execute(this::commitStored);
    }

    /** Commits for all stored requests. Requests stored during the last commit share this one. */
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
            int errno = ErrorNumber.of(e, "the commit that FSYNC and SYNCFS wait for");
            round.forEach(request -> endStep(request, errno));
            return;
        }
        round.forEach(request -> endStep(request, 0));
    }

    /** @param errno why the step failed; 0 if it did not */
    private void endStep(Parked request, int errno) {
        if (errno != 0) {
            answer(request, errno);
        }
        if (request.steps.decrementAndGet() > 0) {
            return;
        }
        if (errno == 0) {
            answer(request, check(request));
        }
        unfinished.decrementAndGet();
    }

    private static int check(Parked request) {
        try {
            request.sync.check();
            return 0;
        } catch (IOException | RuntimeException | Error e) {
            return ErrorNumber.of(e, request.asked.what().get());
        }
    }

    private void answer(Parked request, int errno) {
        if (parked.remove(request.asked.unique(), request)) {
            operations.latencies().record(Kind.FSYNC, request.beganNanos);
            request.answers.answer(request.asked.unique(), errno);
        }
    }

    /**
     * Handles an INTERRUPT of the kernel for the request of this number. Its sync continues even if it is answered. If
     * there are many of these, the killed program waits.
     */
    void interrupted(long unique, IntPredicate killed) {
        Parked request = parked.get(unique);
        if (request != null) {
            answerIfKilled(request, killed);
        }
    }

    /**
     * Checks for killed programs among the requests that have waited since the last check; see {@link Interrupts}. Of
     * many, checks some at a time. For one thread.
     */
    void look(IntPredicate killed) {
        if (!unchecked.hasNext()) {
            unchecked = parked.values().iterator();
        }
        for (int checks = 0; checks < MAX_CHECKS && unchecked.hasNext(); checks++) {
            Parked request = unchecked.next();
            if (request.seen) {
                answerIfKilled(request, killed);
            }
            request.seen = true;
        }
    }

    private void answerIfKilled(Parked request, IntPredicate killed) {
        int pid = request.asked.pid();
        boolean mayBeAbandoned = unfinished.get() - parked.size() < MAX_ABANDONED;
        if (pid > 0 && mayBeAbandoned && killed.test(pid)) {
            answer(request, Errno.EINTR);
        }
    }

    /** Waits until all accepted requests are done. No request may be added after this call. */
    @Override
    public void close() {
        inChunks.close();
        onFastTier.close();
        committing.close();
    }
}
