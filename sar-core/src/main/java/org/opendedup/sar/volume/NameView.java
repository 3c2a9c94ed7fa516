package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;

/**
 * Lets the names be looked at without the lock that orders their changes, but never while a change shows in part. A look that
 * met a change is done again. Changes begin and end one after the other, on the thread that makes them.
 */
final class NameView {
    /** Looks that hope to meet no change; the next one holds changes up. */
    private static final int HOPEFUL_LOOKS = 3;

    private final StampedLock halfDone = new StampedLock();

    /** From here to {@link #endChange} a change shows in part. */
    void beginChange() {
        halfDone.asWriteLock().lock();
    }

    void endChange() {
        halfDone.asWriteLock().unlock();
    }

    /** Looks at the names between two changes of them; {@code undo} is told of a look that met one. */
    <T> T betweenChanges(Tree.Answer<T> look, Consumer<T> undo) throws IOException {
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
