package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A file of a {@link FileDirectory}, open for reading: one descriptor of the process. */
final class FileInput implements Input {
    private final LastingChannel channel;
    private final Path path;
    private final String name;
    private final TransferBuffers buffers;
    private final @Nullable Object key;

    FileInput(FileChannel channel, Path path, String name, TransferBuffers buffers) {
        this.channel = new LastingChannel(channel, path, StandardOpenOption.READ);
        this.path = path;
        this.name = name;
        this.buffers = buffers;
        key = keyOf(path);
    }

    /** Returns device and number of a file; null if that is not known. */
    private static @Nullable Object keyOf(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
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
    public boolean isReplaced() {
        Object now = keyOf(path);
        return now != null && !now.equals(key);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
