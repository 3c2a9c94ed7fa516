package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file of a {@link FileDirectory}, open for reading: one descriptor of the process. */
final class FileInput implements Input {
    private final LastingChannel channel;
    private final Path path;
    private final String name;
    private final TransferBuffers buffers;

    FileInput(FileChannel channel, Path path, String name, TransferBuffers buffers) {
        this.channel = new LastingChannel(channel, path, StandardOpenOption.READ);
        this.path = path;
        this.name = name;
        this.buffers = buffers;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        long at = offset;
        while (target.hasRemaining()) {
            long from = at;
            int read = channel.with(open -> buffers.read(open, target, from));
            if (read < 0) {
                throw new EOFException(name + " ends at byte " + at + ", wanted up to " + (at + target.remaining()));
            }
            at += read;
        }
    }

    @Override
    public long length() throws IOException {
        return channel.with(FileChannel::size);
    }

    @Override
    public FileLayout layout(long offset, long length) {
        try (Descriptor file = Descriptor.open(path, Libc.O_RDONLY)) {
            return file == null ? FileLayout.UNKNOWN : FileLayout.of(file, offset, length);
        }
    }

    @Override
    public void forgetCached(long offset, long length) {
        try (Descriptor file = Descriptor.open(path, Libc.O_RDONLY)) {
            if (file != null) {
                file.forgetCached(offset, length);
            }
        }
    }

    @Override
    public void expect(long offset, long length) {
        try (Descriptor file = Descriptor.open(path, Libc.O_RDONLY)) {
            if (file != null) {
                file.expect(offset, length);
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
