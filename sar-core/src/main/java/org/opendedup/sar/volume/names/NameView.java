package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;
import org.opendedup.sar.common.Answer;

/**
 * Reads the names without the lock that orders their changes, but never sees a partial change. A read that met a change
 * is repeated. Changes begin and end one after the other, each on the thread that makes it.
 */
public final class NameView {
    /** Number of optimistic reads to try; the next read blocks changes. */
    private static final int HOPEFUL_LOOKS = 3;

    private final StampedLock halfDone = new StampedLock();

    /** Begins a change. Until {@link #endChange}, the change is visible in part. */
    void beginChange() {
        halfDone.asWriteLock().lock();
    }

    void endChange() {
        halfDone.asWriteLock().unlock();
    }

    /** Returns the present moment of the names, for {@link #isUnchangedSince}; 0 during a change. */
    long moment() {
        return halfDone.tryOptimisticRead();
    }

    /** Returns whether no change has begun since a moment. */
    boolean isUnchangedSince(long moment) {
        return halfDone.validate(moment);
    }

    /** Reads the names between two changes of them. Passes the result of a read that met a change to {@code undo}. */
    <T> T betweenChanges(Answer<T> look, Consumer<T> undo) throws IOException {
        for (int attempt = 0; attempt < HOPEFUL_LOOKS; attempt++) {
            long stamp = halfDone.tryOptimisticRead();
            if (stamp != 0) {
                T seen = look.get();
                if (halfDone.validate(stamp)) {
                    return seen;
                }
                undo.accept(seen);
            }
        }
        long stamp = halfDone.readLock();
        try {
            return look.get();
        } finally {
            halfDone.unlockRead(stamp);
        }
    }
}
