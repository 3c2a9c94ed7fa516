package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Records that accepted bytes of a file were given up, for the next sync of the whole volume. It reports this once, as
 * syncfs(2) does, in addition to each open file that reports it. Safe for use by many threads.
 */
final class LostWrites {
    private record Loss(long inode, Throwable cause) {}

    private final AtomicReference<Loss> unreported = new AtomicReference<>();

    void note(long inode, Throwable cause) {
        unreported.set(new Loss(inode, cause));
    }

    /** Records that a sync of the whole volume throws this failure: it is not to be reported again. */
    void reported(Throwable failure) {
        Loss last = unreported.get();
        if (last != null && last.cause == failure) {
            unreported.compareAndSet(last, null);
        }
    }

    /** Throws if bytes were given up since the last report. */
    void report() throws IOException {
        Loss last = unreported.getAndSet(null);
        if (last != null) {
            throw new IOException(
                    "bytes written to inode " + last.inode
                            + " could not be stored, and were given up; the log names every such file",
                    last.cause);
        }
    }
}
