package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file of a {@link FileDirectory}, open for reading. */
final class FileInput implements Input {
    private final FileChannel channel;
    private final Path path;
    private final String name;
    private final TransferBuffers buffers;

    // Guarded by this.
    private @Nullable Descriptor descriptor;
    private boolean closed;

    FileInput(FileChannel channel, Path path, String name, TransferBuffers buffers) {
        this.channel = channel;
        this.path = path;
        this.name = name;
        this.buffers = buffers;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        long at = offset;
        while (target.hasRemaining()) {
            int read = buffers.read(channel, target, at);
            if (read < 0) {
                throw new EOFException(name + " ends at byte " + at + ", wanted up to " + (at + target.remaining()));
            }
            at += read;
        }
    }

    @Override
    public long length() throws IOException {
        return channel.size();
    }

    @Override
    public synchronized FileLayout layout(long offset, long length) {
        Descriptor opened = descriptor();
        return opened == null ? FileLayout.UNKNOWN : FileLayout.of(opened, offset, length);
    }

    @Override
    public synchronized void forgetCached(long offset, long length) {
        Descriptor opened = descriptor();
        if (opened != null) {
            opened.forgetCached(offset, length);
        }
    }

    private @Nullable Descriptor descriptor() {
        if (descriptor == null && !closed) {
            descriptor = Descriptor.open(path, Libc.O_RDONLY);
        }
        return descriptor;
    }

    @Override
    public void close() throws IOException {
        closeDescriptor();
        channel.close();
    }

    private synchronized void closeDescriptor() {
        closed = true;
        if (descriptor != null) {
            descriptor.close();
            descriptor = null;
        }
    }
}
