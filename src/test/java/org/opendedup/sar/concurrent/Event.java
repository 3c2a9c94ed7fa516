package org.opendedup.sar.concurrent;

/** A call of a history: it took effect at one moment between {@code invoked} and {@code returned}. */
record Event(int thread, Call call, long invoked, long returned, Answer answer) {
    /** Whether the call's result says that it changed something. */
    boolean isChange() {
        return !call.isQuestion() && !answer.isRefusal();
    }

    @Override
    public String toString() {
        return "[" + invoked + ", " + returned + "] thread " + thread + ": " + call + " -> " + answer;
    }
}
