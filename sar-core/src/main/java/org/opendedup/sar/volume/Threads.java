package org.opendedup.sar.volume;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads with names that a stack dump explains itself with; daemons, so that none keeps a process alive. */
final class Threads {
    private Threads() {}

    static ThreadFactory named(String prefix) {
        return named(prefix, Thread.NORM_PRIORITY);
    }

    /**
     * Threads that go before others where processors are short and the JVM may say so (the daemon's does, if root runs it): for
     * work that much else waits for.
     */
    static ThreadFactory urgent(String prefix) {
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
}
