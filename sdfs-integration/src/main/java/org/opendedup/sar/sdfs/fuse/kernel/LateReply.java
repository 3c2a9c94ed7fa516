package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.concurrent.locks.LockSupport;

/** The answer of another thread to a request whose own thread waits for it. For one request after another. */
final class LateReply implements LateSyncs.Answers {
    private enum State {
        NONE,
        EXPECTED,
        HERE
    }

    private volatile State state = State.NONE;
    /** Written before {@link #state} becomes HERE. */
    private int errno;

    private volatile Thread waiter = Thread.currentThread();

    /** Expects an answer, for which this thread will wait. */
    void expect() {
        waiter = Thread.currentThread();
        state = State.EXPECTED;
    }

    /** Notes that no answer will come. */
    void expectNone() {
        state = State.NONE;
    }

    /** Returns whether an answer is expected or here. */
    boolean isExpected() {
        return state != State.NONE;
    }

    @Override
    public void answer(long unique, int answered) {
        errno = answered;
        state = State.HERE;
        LockSupport.unpark(waiter);
    }

    /** Waits for the answer and returns it: 0 or an error number. */
    int await() {
        while (state == State.EXPECTED) {
            LockSupport.park(this);
        }
        state = State.NONE;
        return errno;
    }
}
