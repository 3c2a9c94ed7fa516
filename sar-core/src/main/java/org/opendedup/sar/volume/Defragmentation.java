package org.opendedup.sar.volume;

import java.io.InterruptedIOException;
import org.opendedup.sar.restore.FileFragmentation;

/**
 * What rewriting a file's sparse containers did, or would do.
 *
 * @param before how the file's chunks lay
 * @param after how they lie now; as before if nothing was rewritten
 * @param sparseContainers containers that were chosen
 * @param wantedBytes bytes of chunks that the file wants of them
 * @param rewrittenChunks chunks stored once more
 * @param rewrittenBytes bytes of these
 * @param unreadableChunks chunks that stayed where they are, as they cannot be read
 */
public record Defragmentation(
        FileFragmentation before,
        FileFragmentation after,
        long sparseContainers,
        long wantedBytes,
        long rewrittenChunks,
        long rewrittenBytes,
        long unreadableChunks) {

    /**
     * How far it may go.
     *
     * @param share of the file's bytes that may be rewritten, from 0 to 1
     * @param dryRun only say what would be done
     */
    public record Limits(double share, boolean dryRun) {
        public Limits {
            if (!(share >= 0 && share <= 1)) {
                throw new IllegalArgumentException("a share is between 0 and 1, not " + share);
            }
        }
    }

    /** Hears how far it is, and may end it. */
    @FunctionalInterface
    public interface Progress {
        /** @return whether to go on; what was done until then stays */
        boolean rewritten(long bytes, long ofBytes);

        /**
         * Asked while the file is looked at.
         *
         * @throws InterruptedIOException if it was stopped
         */
        default void checkStopped() throws InterruptedIOException {}
    }
}
