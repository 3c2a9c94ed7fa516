package org.opendedup.sar.arrange;

/**
 * The result of an arrangement. Times are predictions for reading with cold caches, by the model of the disk that the
 * arrangement was given.
 *
 * @param files number of the newest files that were examined
 * @param bytes bytes of these files that are in chunks
 * @param secondsBefore predicted time of reading them, before
 * @param secondsAfter predicted time of reading them, after
 * @param movedChunks number of chunks stored once more
 * @param movedBytes bytes of these chunks, before compression
 * @param replacedReferences number of references in recipes that lead to the new copies now
 * @param skippedFiles number of files that were left out, because a part of their recipe or a container of theirs
 *     cannot be read
 * @param complete whether everything was examined that the limits allow; else there was no room for copies, or somebody
 *     waited for a garbage collection
 */
public record ArrangementReport(
        long files,
        long bytes,
        double secondsBefore,
        double secondsAfter,
        long movedChunks,
        long movedBytes,
        long replacedReferences,
        long skippedFiles,
        boolean complete) {}
