package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The request that a worker serves, as far as it may be abandoned: then another thread can answer it while the worker is
 * still at it, and the worker's own reply is not sent. Each request gets one answer. {@link #begin} and {@link #end} are the
 * worker's, {@link #abandon} is anybody's.
 */
final class ServedRequest {
    /** No request, or one that may not be abandoned. The kernel numbers requests from 2 on. */
    static final long NONE = 0;

    private static final long BEING_ANSWERED = -1;

    private final LongConsumer interruptedAnswer;
    /** The unique number of the request that may be abandoned, or one of the above. */
    private final AtomicLong state = new AtomicLong(NONE);
    /** Written before {@link #state}: who finds a number there finds its thread here, or fails to claim the number. */
    private volatile int pid;
    /** The worker's own note of what it began. */
    private long begun = NONE;

    /** @param interruptedAnswer answers the request of this number with EINTR */
    ServedRequest(LongConsumer interruptedAnswer) {
        this.interruptedAnswer = interruptedAnswer;
    }

    /** From here on the request may be abandoned. */
    void begin(long unique, int callerPid) {
        pid = callerPid;
        begun = unique;
        state.set(unique);
    }

    /** The worker is done with its request. @return false if it was answered already: the worker's reply is void */
    boolean end() {
        if (begun == NONE) {
            return true;
        }
        boolean mine = state.compareAndSet(begun, NONE);
        begun = NONE;
        // The answer is one short write. The worker waits for it, as it may close its descriptor next.
        while (!mine && state.get() == BEING_ANSWERED) {
            Thread.onSpinWait();
        }
        return mine;
    }

    /** The number of the request, {@link #NONE} or something negative. */
    long unique() {
        return state.get();
    }

    /** The thread that waits for the request; 0 if it has no number here. */
    int pid() {
        return pid;
    }

    /** Answers the request with EINTR, if it is still this one. */
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
