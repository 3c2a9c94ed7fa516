package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file open for reading at any offset, by any number of threads. */
public interface Input extends Closeable {
    /**
     * Fills {@code target} from {@code offset} on.
     *
     * @throws EOFException if the file ends before {@code target} is full
     */
    void readFully(long offset, ByteBuffer target) throws IOException;

    /** The file's length in bytes, as of now. */
    long length() throws IOException;

    /** Where it lies on its device, as of when this was asked first. */
    default FileLayout layout() {
        return FileLayout.UNKNOWN;
    }
}
