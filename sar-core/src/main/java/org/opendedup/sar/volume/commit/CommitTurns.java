package org.opendedup.sar.volume.commit;

import org.opendedup.sar.common.Threads;

/**
 * Lets one thread commit for all that wait. A thread draws a ticket; whoever finds no commit running commits for all
 * tickets drawn by then, and the others wait. At its end all of these return at once, and one of the threads that came
 * later commits for the rest. Safe for use by many threads.
 */
final class CommitTurns {
    private long drawn;
    private long answered;
    private boolean isRunning;

    /**
     * Waits until a commit that began after this call is done, or until it is the caller's turn to make one.
     *
     * @return the number of the last ticket that the caller's commit answers, to be passed to {@link #end}; 0 if
     *     another thread's commit was successful
     */
    synchronized long begin() {
        long ticket = ++drawn;
        // A commit is not given up: the caller is told whether its changes are durable.
        Threads.await(this, () -> !isRunning || answered >= ticket);
        if (answered >= ticket) {
            return 0;
        }
        isRunning = true;
        return drawn;
    }

    /**
     * Ends the caller's turn.
     *
     * @param upTo the last ticket that is answered; 0 if the commit failed: each of the others then tries itself
     */
    synchronized void end(long upTo) {
        isRunning = false;
        answered = Math.max(answered, upTo);
        notifyAll();
    }
}
