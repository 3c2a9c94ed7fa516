package org.opendedup.sar.sdfs.fuse;

import java.io.Closeable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool of threads that make data durable for waiting programs. A thread ends when it is idle. If the system cannot
 * create a thread, the caller of {@link #execute} runs the task; otherwise a program would wait forever.
 */
public final class SyncThreads implements Closeable {
    private static final long IDLE_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(SyncThreads.class);

    private final ThreadPoolExecutor threads;
    private final Turns<Runnable> waiting = new Turns<>();

    public SyncThreads(int count, String name) {
        this(count, Threads.urgent(name));
    }

    public SyncThreads(int count, ThreadFactory factory) {
        threads = new ThreadPoolExecutor(
                count, count, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        threads.allowCoreThreadTimeOut(true);
    }

    /** Runs the task of a user when the user has a turn, once. */
    public void execute(int user, Runnable task) {
        waiting.add(user, task);
        execute(this::runNext);
    }

    private void runNext() {
        Runnable next = waiting.poll();
        if (next != null) {
            next.run();
        }
    }

    /** @param task takes its work from a queue and does nothing if the queue is empty, because it may run twice */
    public void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            // "unable to create native thread": another thread may have taken the task nevertheless.
            LOG.warn("{}: serving an fsync on a thread that receives requests", e.getMessage());
            threads.remove(task);
            task.run();
        }
    }

    /** Waits until all tasks are done. No task may be added after this call. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            while (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
                LOG.warn("the mount has ended, and data of fsync calls is still being stored");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
