package org.opendedup.sar.sdfs.fuse;

import java.io.Closeable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that make things durable for programs that wait for it. They end when they are idle. Where the machine gives no thread, who has
 * something to do does it: else a program would wait for ever.
 */
public final class SyncThreads implements Closeable {
    private static final long IDLE_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(SyncThreads.class);

    private final ThreadPoolExecutor threads;

    public SyncThreads(int count, String name) {
        this(count, task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
    }

    public SyncThreads(int count, ThreadFactory factory) {
        threads = new ThreadPoolExecutor(
                count, count, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        threads.allowCoreThreadTimeOut(true);
    }

    /** @param task takes what it does from a queue, and does nothing where that is empty: it may run twice */
    public void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            // "unable to create native thread": another thread may have got the task nevertheless.
            LOG.warn("{}: a program's fsync is served by a thread that others need", e.getMessage());
            threads.remove(task);
            task.run();
        }
    }

    /** Returns when all is done. Nothing comes any more. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            while (!threads.awaitTermination(1, TimeUnit.MINUTES)) {
                LOG.warn("the mount has ended, and what programs had asked to be made durable is still being stored");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
