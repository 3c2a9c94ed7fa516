package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The request that a worker serves, if it may be abandoned. Another thread can then answer it while the worker still
 * serves it; the worker's own reply is not sent. Each request gets one answer. The worker calls {@link #begin} and
 * {@link #end}; any thread may call {@link #abandon}.
 */
final class ServedRequest {
    /** No request, or one that may not be abandoned. The kernel's request numbers start at 2. */
    static final long NONE = 0;

    private static final long BEING_ANSWERED = -1;

    private final LongConsumer interruptedAnswer;
    /** Unique number of the request that may be abandoned, {@link #NONE}, or {@link #BEING_ANSWERED}. */
    private final AtomicLong state = new AtomicLong(NONE);
    /**
     * Written before {@link #state}: a thread that reads a number there either finds the matching thread ID here or
     * fails to claim the number.
     */
    private volatile int pid;
    /** Number that the worker passed to {@link #begin}. */
    private long begun = NONE;
    /** Number at the last call of {@link #longServed}. */
    private long looked = NONE;

    /** @param interruptedAnswer answers the request of the given number with EINTR */
    ServedRequest(LongConsumer interruptedAnswer) {
        this.interruptedAnswer = interruptedAnswer;
    }

    /** Allows other threads to abandon the request from now on. */
    void begin(long unique, int callerPid) {
        pid = callerPid;
        begun = unique;
        state.set(unique);
    }

    /**
     * Ends the worker's request.
     *
     * @return false if another thread has already answered it: the worker must discard its reply
     */
    boolean end() {
        if (begun == NONE) {
            return true;
        }
        // The answer is short. The worker waits for it, because it may close its descriptor next.
        while (!state.compareAndSet(begun, NONE)) {
            if (state.get() == NONE) {
                begun = NONE;
                return false;
            }
            Thread.onSpinWait();
        }
        begun = NONE;
        return true;
    }

    /** Returns the number of the request, {@link #NONE} or a negative number. */
    long unique() {
        return state.get();
    }

    /**
     * Returns the number of the request if it was already served at the last call of this method; otherwise
     * {@link #NONE}. For one thread.
     */
    long longServed() {
        long before = looked;
        looked = unique();
        return looked > NONE && looked == before ? looked : NONE;
    }

    /** Returns the ID of the thread that waits for the request; 0 if it has none in this pid namespace. */
    int pid() {
        return pid;
    }

    /** Answers the request with EINTR if the worker still serves it. */
    void abandon(long unique) {
        if (state.compareAndSet(unique, BEING_ANSWERED)) {
            try {
                interruptedAnswer.accept(unique);
            } finally {
                state.set(NONE);
            }
        }
    }
}
