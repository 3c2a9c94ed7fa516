package org.opendedup.sar.sim.index;

import java.io.Closeable;
import java.io.IOException;

/** An index that stores the segments of a trace, and counts what it finds and reads. Not thread-safe. */
abstract class IndexModel implements Closeable {
    private long foundChunks;
    private long foundBytes;
    private long reads;
    private long readBytes;

    /** Stores a segment, in the order of the trace. */
    abstract void store(TraceSegment segment) throws IOException;

    /** Stores what it holds back. */
    void finish() throws IOException {
        // Most hold nothing back.
    }

    /** Returns the memory that grows with the data, in bytes. */
    abstract long indexBytes() throws IOException;

    /** Returns the memory of caches and buffers, in bytes. */
    abstract long cacheBytes() throws IOException;

    /** Returns how many stored fingerprints there are for each one in memory, if the index chose that by its memory. */
    int sampling() throws IOException {
        return 1;
    }

    final void found(int length) {
        foundChunks++;
        foundBytes += length;
    }

    /** Counts a read of the index from its device. */
    final void read(long bytes) {
        read(1, bytes);
    }

    /** Counts reads of a disk: their number, and the bytes of all of them. */
    final void read(long times, long bytes) {
        reads += times;
        readBytes += bytes;
    }

    final long foundChunks() {
        return foundChunks;
    }

    /** Returns the bytes of the chunks that were found. */
    final long foundBytes() {
        return foundBytes;
    }

    final long reads() {
        return reads;
    }

    final long readBytes() {
        return readBytes;
    }

    @Override
    public void close() throws IOException {
        // Most are in memory only.
    }
}
