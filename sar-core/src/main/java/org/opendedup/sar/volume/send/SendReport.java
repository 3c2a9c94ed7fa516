package org.opendedup.sar.volume.send;

/**
 * What was sent.
 *
 * @param snapshot name of the snapshot
 * @param since name of the snapshot that the receiver had already; empty: it had none
 * @param known whether the receiver had the snapshot already, so that nothing was sent
 * @param changed number of inodes that are new or changed
 * @param removed number of inodes that are removed
 * @param chunks number of chunks whose bytes were sent
 * @param chunkBytes bytes of these chunks before compression
 * @param streamBytes bytes of the stream
 */
public record SendReport(
        String snapshot,
        String since,
        boolean known,
        long changed,
        long removed,
        long chunks,
        long chunkBytes,
        long streamBytes) {}
