package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An open file that is read and written at any offset. Safe for use by many threads; {@link #close} only when no call
 * runs. Bytes and length are durable after {@link #force}.
 */
public interface RandomFile extends Closeable {
    /**
     * What the file system says of a file.
     *
     * @param size length in bytes
     * @param allocatedBytes bytes that it takes on its device
     * @param modifiedNs time of the last change of its bytes, in nanoseconds since 1970
     * @param changedNs time of the last change of its bytes or attributes, in nanoseconds since 1970; no program can
     *     set it
     */
    record Status(long size, long allocatedBytes, long modifiedNs, long changedNs) {}

    /** Returns the number of its descriptor, for calls of the kernel that take one; -1 if it has none. */
    int descriptor();

    /**
     * Reads up to {@code target.remaining()} bytes and advances its position.
     *
     * @return number of bytes read; fewer only at the end of the file
     */
    int read(long offset, ByteBuffer target) throws IOException;

    /** Writes all of {@code source}'s remaining bytes. */
    void write(long offset, ByteBuffer source) throws IOException;

    /** Changes the length, in bytes. */
    void truncate(long size) throws IOException;

    /**
     * Allocates space for a range, and extends the file to its end unless the size is to be kept. EOPNOTSUPP where the
     * file system cannot.
     */
    void allocate(long offset, long length, boolean keepSize) throws IOException;

    /** Makes a range read as zeros. Extends the file to the end of the range unless the size is to be kept. */
    void zero(long offset, long length, boolean keepSize) throws IOException;

    /** Returns the first offset at or after {@code offset} that may hold data. ENXIO if there is none. */
    long seekData(long offset) throws IOException;

    /**
     * Returns the first offset at or after {@code offset} in a hole; the file's end counts as one. ENXIO at the end.
     */
    long seekHole(long offset) throws IOException;

    /**
     * Makes all bytes and the length durable. On ext4, xfs and btrfs also the name of a file that was made since the
     * last sync.
     */
    void force() throws IOException;

    /** Sets the time of the last change of its bytes, in nanoseconds since 1970. */
    void setModified(long ns) throws IOException;

    Status status() throws IOException;

    @Override
    void close();
}
