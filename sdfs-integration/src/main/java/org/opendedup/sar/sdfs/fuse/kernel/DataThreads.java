package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Limits the requests that move data at the same time, and serves the large ones on threads of its own. Those run on
 * any processor: a reader copies bytes while the next ones are read for it, which its own processor could not do for
 * both.
 */
final class DataThreads implements Closeable {
    private final Semaphore permits;
    private final ExecutorService threads;

    /** A request that a data thread serves while its own thread waits. For one request after another. */
    abstract static class Handed implements Runnable {
        private volatile boolean served;
        private volatile Thread waiter = Thread.currentThread();

        /** Serves the request. Never throws. */
        abstract void serve();

        @Override
        public final void run() {
            serve();
            served = true;
            LockSupport.unpark(waiter);
        }
    }

    /** Makes and starts the threads: a thread runs on the processors of the one that starts it. */
    DataThreads(int count) {
        permits = new Semaphore(count);
        threads = Executors.newFixedThreadPool(count, task -> {
            Thread made = new Thread(task, "fuse-data");
            made.setDaemon(true);
            return made;
        });
        for (int i = 0; i < count; i++) {
            threads.execute(() -> {});
        }
    }

    /** Enters if no more than the allowed number has entered. */
    boolean tryEnter() {
        return permits.tryAcquire();
    }

    void enter() {
        permits.acquireUninterruptibly();
    }

    void leave() {
        permits.release();
    }

    /** Serves a request that has entered, and returns when it is served. */
    void serve(Handed request) {
        request.served = false;
        request.waiter = Thread.currentThread();
        try {
            threads.execute(request);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            request.serve();
            return;
        }
        while (!request.served) {
            LockSupport.park(request);
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
