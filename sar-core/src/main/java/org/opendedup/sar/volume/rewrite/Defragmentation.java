package org.opendedup.sar.volume.rewrite;

import org.opendedup.sar.restore.fragmentation.FileFragmentation;

/**
 * The result of rewriting a file's sparse containers, or of a dry run of that.
 *
 * @param before spread of the file's chunks before
 * @param after spread of the file's chunks now; the same as before if nothing was rewritten
 * @param sparseContainers number of containers that were chosen
 * @param wantedBytes bytes of chunks in these containers that the file refers to
 * @param rewrittenChunks number of chunks stored once more
 * @param rewrittenBytes bytes of the rewritten chunks
 * @param unreadableChunks number of chunks that stayed in place because they cannot be read
 */
public record Defragmentation(
        FileFragmentation before,
        FileFragmentation after,
        long sparseContainers,
        long wantedBytes,
        long rewrittenChunks,
        long rewrittenBytes,
        long unreadableChunks) {

    /** Stage of the progress; the unit is a rewritten byte. */
    public static final String REWRITING = "rewriting";

    /**
     * Limits of a defragmentation.
     *
     * @param share share of the file's bytes that may be rewritten, from 0 to 1
     * @param dryRun whether to only report what would be done
     */
    public record Limits(double share, boolean dryRun) {
        public Limits {
            if (!(share >= 0 && share <= 1)) {
                throw new IllegalArgumentException("a share is between 0 and 1, not " + share);
            }
        }
    }
}
