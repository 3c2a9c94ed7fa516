package org.opendedup.sar.container;

import java.io.EOFException;
import java.nio.ByteBuffer;
import org.opendedup.sar.io.Input;

/**
 * The first bytes of an array, as a file.
 *
 * @param length of the file, in bytes
 */
record ArrayInput(byte[] bytes, long length) implements Input {
    @Override
    public void readFully(long offset, ByteBuffer target) throws EOFException {
        if (offset + target.remaining() > length) {
            throw new EOFException("there are " + length + " bytes, wanted up to " + (offset + target.remaining()));
        }
        target.put(bytes, (int) offset, target.remaining());
    }

    @Override
    public void close() {
        // There is nothing to close.
    }
}
