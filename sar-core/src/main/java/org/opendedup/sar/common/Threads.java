package org.opendedup.sar.common;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes threads with names that explain them in a stack dump. They are daemon threads, so that none keeps the process
 * alive. Also ways of waiting for others.
 */
public final class Threads {
    /** Time between two looks whether a thread is to wait on, in milliseconds. */
    private static final long STEP_MS = 50;

    private static final Logger log = LoggerFactory.getLogger(Threads.class);

    private Threads() {}

    /**
     * Returns a step for a timer that goes on after a failure of any kind. A timer of the JDK begins no further step
     * after an exception or error, and tells nobody: one thread that cannot be started, or a class that was replaced
     * below the running program, would end it.
     */
    public static Runnable lasting(Runnable step) {
        return () -> {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                log.error("a step of a timer failed; the timer goes on", e);
            }
        };
    }

    public static ThreadFactory named(String prefix) {
        return named(prefix, Thread.NORM_PRIORITY);
    }

    /**
     * Returns a factory of threads with higher priority, for work that much other work waits for. The priority has an
     * effect if processors are short and the JVM may set it (the daemon's JVM may, if root runs it).
     */
    public static ThreadFactory urgent(String prefix) {
        return named(prefix, Thread.MAX_PRIORITY);
    }

    private static ThreadFactory named(String prefix, int priority) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, prefix + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            thread.setPriority(priority);
            return thread;
        };
    }

    /**
     * Acquires a lock that may be held for hours.
     *
     * @param what is waited for, for the message of an interrupted thread
     * @param whileWaiting called some times a second; may end the waiting by an exception
     */
    public static void acquire(Lock lock, String what, Closing.Step whileWaiting) throws IOException {
        try {
            while (!lock.tryLock(STEP_MS, TimeUnit.MILLISECONDS)) {
                whileWaiting.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + what);
        }
    }

    /**
     * Waits until a condition holds that others change with the monitor, and tell by {@code notifyAll}. An interrupt
     * does not end the wait; the thread's interrupt flag is set again afterwards.
     */
    public static void await(Object monitor, BooleanSupplier condition) {
        boolean interrupted = false;
        synchronized (monitor) {
            while (!condition.getAsBoolean()) {
                try {
                    monitor.wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the tasks of an executor have ended, for a minute at most; it takes no more. */
    public static void end(ExecutorService executor) throws IOException {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(1, TimeUnit.MINUTES)) {
                throw new IOException("a task did not end within a minute");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while closing the volume", e);
        }
    }
}
