package org.opendedup.sar.restore;

/**
 * How a reader in sequence does. Bytes count from where reading ahead began.
 *
 * @param inode its file
 * @param offset how far it has come
 * @param size of the file
 * @param readBytes what it asked for
 * @param seconds since when
 * @param containerReads containers read from for it; one that was gone back to counts again
 * @param diskBytes of compressed frames read from the disk
 * @param ssdBytes of chunks that the SSD had
 * @param memoryBytes of chunks that were in memory
 * @param heldBytes of chunks in memory for it now, roughly
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
    /** Bytes read from the disk for each byte asked for; below 1 thanks to compression, zeros and chunks that repeat. */
    public double readAmplification() {
        return readBytes == 0 ? 0 : (double) diskBytes / readBytes;
    }

    /** Millions of bytes a second. */
    public double megabytesPerSecond() {
        return seconds == 0 ? 0 : readBytes / seconds / 1e6;
    }
}
