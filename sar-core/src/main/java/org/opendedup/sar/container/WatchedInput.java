package org.opendedup.sar.container;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.io.Input;

/** A file of which it is remembered whether a part of it could not be read. For one thread. */
final class WatchedInput implements Input {
    private final Input input;
    private boolean hasUnreadable;

    WatchedInput(Input input) {
        this.input = input;
    }

    /** Returns whether a read failed, for another reason than the end of the file. */
    boolean hasUnreadable() {
        return hasUnreadable;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        try {
            input.readFully(offset, target);
        } catch (EOFException e) {
            throw e;
        } catch (IOException e) {
            hasUnreadable = true;
            throw e;
        }
    }

    @Override
    public long length() throws IOException {
        return input.length();
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
