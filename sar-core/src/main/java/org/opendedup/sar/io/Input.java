package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file open for reading at any offset, by any number of threads. */
public interface Input extends Closeable {
    /**
     * Fills {@code target} with the bytes of the file from {@code offset} on.
     *
     * @throws EOFException if the file ends before {@code target} is full
     */
    void readFully(long offset, ByteBuffer target) throws IOException;

    /** Returns the file's present length in bytes. */
    long length() throws IOException;

    /** Returns the positions of the file on its device, as they were at the first call. */
    default FileLayout layout() {
        return FileLayout.UNKNOWN;
    }
}
