package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Passes every call on to another handle; a subclass changes some. Target handles of copies must have the same
 * decorator.
 */
public abstract class HandleDecorator implements FileSystem.Handle {
    private final FileSystem.Handle handle;

    protected HandleDecorator(FileSystem.Handle handle) {
        this.handle = handle;
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        return handle.read(offset, target);
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
        handle.write(offset, source);
    }

    @Override
    public void allocate(long offset, long length, boolean keepSize) throws IOException {
        handle.allocate(offset, length, keepSize);
    }

    @Override
    public void zero(long offset, long length, boolean keepSize) throws IOException {
        handle.zero(offset, length, keepSize);
    }

    @Override
    public long seekData(long offset) throws IOException {
        return handle.seekData(offset);
    }

    @Override
    public long seekHole(long offset) throws IOException {
        return handle.seekHole(offset);
    }

    @Override
    public long copy(long from, FileSystem.Handle target, long to, long length) throws IOException {
        return handle.copy(from, ((HandleDecorator) target).handle, to, length);
    }

    @Override
    public void flush() throws IOException {
        handle.flush();
    }

    @Override
    public void sync(boolean dataOnly) throws IOException {
        handle.sync(dataOnly);
    }

    @Override
    public void close() {
        handle.close();
    }
}
