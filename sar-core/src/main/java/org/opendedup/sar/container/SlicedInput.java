package org.opendedup.sar.container;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;

/** A part of a file as a file of its own: one container of a pack. Closing it has no effect on the file. */
final class SlicedInput implements Input {
    private final Input file;
    private final long start;
    private final long length;

    /**
     * @param start first byte of the part in the file
     * @param length its length in bytes
     */
    SlicedInput(Input file, long start, long length) {
        this.file = file;
        this.start = start;
        this.length = length;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        if (offset + target.remaining() > length) {
            throw new EOFException(
                    "the container ends at byte " + length + ", wanted up to " + (offset + target.remaining()));
        }
        file.readFully(start + offset, target);
    }

    /** Returns the length of the part, or less if the file ends earlier. */
    @Override
    public long length() throws IOException {
        return Math.max(0, Math.min(length, file.length() - start));
    }

    @Override
    public FileLayout layout(long offset, long count) {
        return file.layout(start + offset, count);
    }

    @Override
    public void close() {
        // The file belongs to the caller.
    }
}
