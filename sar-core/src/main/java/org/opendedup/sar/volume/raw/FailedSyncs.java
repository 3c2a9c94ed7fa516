package org.opendedup.sar.volume.raw;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The syncs of the fast tier that failed. Linux tells a failed write-back once, and counts the bytes as written: the
 * next sync succeeds. So the next caller that wants everything durable is told of a failure in the background. Safe for
 * use by many threads.
 */
final class FailedSyncs {
    private long failed;
    private long told;
    private @Nullable IOException last;

    synchronized void note(IOException failure) {
        failed++;
        last = failure;
    }

    /** Returns how many of them somebody was told of, for {@link #tell}. */
    synchronized long told() {
        return told;
    }

    /**
     * Throws the last failure, if there were any that nobody was told of when {@link #told} returned {@code before}:
     * all who waited at the same time are told.
     */
    synchronized void tell(long before) throws IOException {
        told = failed;
        if (failed > before && last != null) {
            throw last;
        }
    }
}
