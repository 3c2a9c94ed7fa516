package org.opendedup.sar.common;

import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits until nobody uses what was valid before. This is the grace period of read-copy-update (McKenney and Slingwine,
 * 1998): whoever takes something out of use first makes it unreachable for new uses, then calls {@link #await}, and may
 * destroy it after that.
 *
 * <p>Safe for use by many threads. {@link #begin} never waits.
 */
public final class GracePeriod {
    /** A use that has begun. Close it exactly once; any thread may do that. */
    public interface Use extends AutoCloseable {
        @Override
        void close();
    }

    private final ReentrantLock waiting = new ReentrantLock();
    /** Phases that are not current any more and may have open uses, oldest first; guarded by {@link #waiting}. */
    private final Deque<Phase> draining = new ArrayDeque<>();

    private volatile Phase current = new Phase();

    /** Begins a use. Each call of {@link #await} that comes after this one waits until the use is closed. */
    public Use begin() {
        while (true) {
            Phase phase = current;
            phase.enter();
            // A phase that is still the current one now will be waited for with this use in it.
            if (phase == current) {
                return phase;
            }
            phase.close();
        }
    }

    /**
     * Waits until all uses are closed that began before this call. Does not wait for uses that begin later. If several
     * threads call it, they wait one after another. A thread that has an open use itself would wait for ever.
     *
     * @throws InterruptedIOException if the thread is interrupted; the uses may still be open then
     */
    public void await() throws InterruptedIOException {
        try {
            waiting.lockInterruptibly();
            try {
                draining.add(current);
                current = new Phase();
                // Phases that an interrupted call left have uses that began before this call, too.
                while (!draining.isEmpty()) {
                    draining.element().awaitEmpty();
                    draining.remove();
                }
            } finally {
                waiting.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the end of earlier uses");
        }
    }

    /** The uses that began between two waits. */
    private static final class Phase implements Use {
        private final AtomicLong uses = new AtomicLong();
        private volatile boolean isAwaited;

        void enter() {
            uses.incrementAndGet();
        }

        @Override
        public void close() {
            if (uses.decrementAndGet() == 0 && isAwaited) {
                synchronized (this) {
                    notifyAll();
                }
            }
        }

        void awaitEmpty() throws InterruptedException {
            // Set before the number is read: a use that is closed after that reading notifies.
            isAwaited = true;
            synchronized (this) {
                while (uses.get() > 0) {
                    wait();
                }
            }
        }
    }
}
