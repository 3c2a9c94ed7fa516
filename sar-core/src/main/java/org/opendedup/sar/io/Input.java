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

    /**
     * Returns the positions on the device of {@code length} bytes of the file from {@code offset} on, as they are now.
     * Offsets in the layout are relative to {@code offset}. Space that is reserved has positions too, also after the
     * end of the file. Each call asks the file system: a caller that asks often should keep the answer.
     */
    default FileLayout layout(long offset, long length) {
        return FileLayout.UNKNOWN;
    }

    /**
     * Asks the kernel to forget what it has in memory of a range of the file, so that the next read shows what the
     * device has. What was written and not forced stays. Does nothing where that is not possible.
     */
    default void forgetCached(long offset, long length) {}

    /**
     * Forgets copies of a range that are kept nearer than the bytes themselves, as those of an object store are in a
     * local cache: the next read of the range is one of what is stored. For a reader who found damage.
     *
     * @return whether there were copies, so that another read may find other bytes
     */
    default boolean forgetCopies(long offset, long length) throws IOException {
        return false;
    }

    /** Asks the kernel to begin to read a range of the file into its cache. Does nothing where that is not possible. */
    default void expect(long offset, long length) {}

    /**
     * Returns whether the name of the file leads to another file now, as when its file system was mounted anew: then
     * this one may fail for ever.
     */
    default boolean isReplaced() {
        return false;
    }
}
