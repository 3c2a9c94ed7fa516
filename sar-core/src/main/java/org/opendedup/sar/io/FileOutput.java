package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file of a {@link FileDirectory}, open for appending. */
final class FileOutput implements Output {
    private static final Logger log = LoggerFactory.getLogger(FileOutput.class);

    private final LastingChannel channel;
    private final Path path;
    private final TransferBuffers buffers;
    private long position;
    /** End of the reserved space, in bytes from the start of the file; 0 if none is reserved. */
    private long reservedEnd;

    /** End of what the system was asked to write, in bytes from the start of the file. */
    private long startedEnd;

    private @Nullable Descriptor descriptor;

    FileOutput(FileChannel channel, Path path, TransferBuffers buffers) {
        this.channel = new LastingChannel(channel, path, StandardOpenOption.WRITE);
        this.path = path;
        this.buffers = buffers;
    }

    @Override
    public long append(ByteBuffer source) throws IOException {
        long start = position;
        try {
            while (source.hasRemaining()) {
                position += FullDisk.translating(() -> channel.with(open -> buffers.write(open, source, position)));
            }
        } catch (NoSpaceException e) {
            takeBack(start, e);
            throw e;
        }
        return start;
    }

    /** Removes the bytes of an incomplete append from the file, which needs no space. */
    private void takeBack(long start, NoSpaceException cause) throws IOException {
        try {
            channel.with(open -> open.truncate(start));
            position = start;
            startedEnd = Math.min(startedEnd, start);
            reservedEnd = 0; // The truncation freed it.
        } catch (IOException e) {
            IOException torn = new IOException(path + " ends within an append: " + e.getMessage(), cause);
            torn.addSuppressed(e);
            throw torn;
        }
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public boolean reserve(long length) {
        long present = Math.max(position, reservedEnd);
        if (length <= present) {
            return true;
        }
        Descriptor file = isUsable(length - present) ? descriptor() : null;
        if (file == null) {
            return false;
        }
        // Not from the start of the file: ranges there may have been given back.
        if (file.reserve(position, length - position)) {
            reservedEnd = length;
            return true;
        }
        giveBackPart();
        return false;
    }

    private boolean isUsable(long bytes) {
        try {
            return bytes <= FileDevice.of(path).usableBytes();
        } catch (IOException e) {
            log.debug("{}: its file system reports no usable space, so none is reserved", path, e);
            return false;
        }
    }

    private @Nullable Descriptor descriptor() {
        if (descriptor == null && channel.isOpen()) {
            descriptor = Descriptor.open(path, Libc.O_WRONLY);
        }
        return descriptor;
    }

    /** Ext4 allocates all that is left of a disk before it reports that the disk is full, and keeps it allocated. */
    private void giveBackPart() {
        try {
            trim();
        } catch (IOException e) {
            log.warn("{}; it stays allocated until this file is trimmed or deleted", e.getMessage());
        }
    }

    @Override
    public void trim() throws IOException {
        if (descriptor != null) {
            descriptor.trim(channel.with(FileChannel::size));
            reservedEnd = 0;
        }
    }

    @Override
    public void startWriting() {
        Descriptor file = startedEnd < position ? descriptor() : null;
        if (file != null) {
            file.startWriting(startedEnd, position - startedEnd);
            startedEnd = position;
        }
    }

    @Override
    public void force() throws IOException {
        // Delayed allocation may find the disk full only now.
        FullDisk.translating(() -> {
            channel.force();
            return path;
        });
    }

    @Override
    public void close() throws IOException {
        if (descriptor != null) {
            descriptor.close();
            descriptor = null;
        }
        channel.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
