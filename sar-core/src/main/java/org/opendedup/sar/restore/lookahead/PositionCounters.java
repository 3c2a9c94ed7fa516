package org.opendedup.sar.restore.lookahead;

/** Counts what was read for one position since reading ahead began there. For one thread at a time. */
final class PositionCounters {
    private final long inode;
    private final long start;
    private final long startNanos = System.nanoTime();
    private long containerReads;
    private long diskBytes;
    private long ssdBytes;
    private long memoryBytes;

    /** @param start file offset at which reading ahead begins */
    PositionCounters(long inode, long start) {
        this.inode = inode;
        this.start = start;
    }

    /** Adds what a batch fetched. */
    void add(BatchRead.Fetched fetched) {
        containerReads += fetched.containers().size();
        diskBytes += fetched.diskBytes();
        ssdBytes += fetched.ssdBytes();
        memoryBytes += fetched.memoryBytes();
    }

    /**
     * Returns the status of the position.
     *
     * @param readerAt file offset that its reader has reached
     * @param size size of the file, in bytes
     * @param heldBytes bytes of chunks held for it now
     */
    StreamStatus status(long readerAt, long size, long heldBytes) {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        return new StreamStatus(
                inode,
                readerAt,
                size,
                readerAt - start,
                seconds,
                containerReads,
                diskBytes,
                ssdBytes,
                memoryBytes,
                heldBytes);
    }
}
