package org.opendedup.sar.restore.lookahead;

/**
 * Status of one position of a sequential reader. Bytes count from where reading ahead began.
 *
 * @param inode inode of its file, or of the folder through whose tree it goes
 * @param offset file offset that it has reached; in a tree, bytes of its files so far
 * @param size size of the file, in bytes; of a tree what {@code offset} is
 * @param readBytes bytes that it requested
 * @param seconds seconds since reading ahead began
 * @param containerReads containers read from for it; a container that is read again counts again
 * @param diskBytes bytes of compressed frames read from the disk
 * @param ssdBytes bytes of chunks read from the SSD
 * @param memoryBytes bytes of chunks that were in memory
 * @param heldBytes bytes of chunks held in memory for it now, approximately
 */
public record StreamStatus(
        long inode,
        long offset,
        long size,
        long readBytes,
        double seconds,
        long containerReads,
        long diskBytes,
        long ssdBytes,
        long memoryBytes,
        long heldBytes) {
    /** Bytes read from the disk for each byte requested; below 1 thanks to compression, zeros and repeated chunks. */
    public double readAmplification() {
        return readBytes == 0 ? 0 : (double) diskBytes / readBytes;
    }

    /** Megabytes (10^6 bytes) a second. */
    public double megabytesPerSecond() {
        return seconds == 0 ? 0 : readBytes / seconds / 1e6;
    }
}
