package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.opendedup.sar.io.Input;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of which as much is wanted as the disk gives: a block that can't be read is zeros, which no checksum takes for anything.
 * Keeps a window in memory that moves forward with its reader. For one thread.
 */
final class SalvagedFile {
    private static final Logger log = LoggerFactory.getLogger(SalvagedFile.class);

    /** What is read at once while the disk is well. */
    private static final int WINDOW_BYTES = 1 << 20;
    /** What is given up where it is not: the sector of most disks. */
    private static final int BLOCK_BYTES = 4096;

    private final Input input;
    private final String name;
    private final long length;
    private byte[] window = new byte[0];
    private long windowStart;
    private int windowBytes;
    private long unreadableBytes;

    /** @param maxBytes what lies behind is not looked at */
    SalvagedFile(Input input, String name, long maxBytes) throws IOException {
        this.input = input;
        this.name = name;
        length = Math.min(input.length(), maxBytes);
    }

    /** Bytes that are looked at. */
    long length() {
        return length;
    }

    /** Bytes that could not be read so far. */
    long unreadableBytes() {
        return unreadableBytes;
    }

    /** Has {@code count} bytes from {@code offset} on in {@link #bytes}; false if the file ends before. Offsets may only rise. */
    boolean has(long offset, int count) throws IOException {
        if (offset + count > length) {
            return false;
        }
        if (offset < windowStart || offset + count > windowStart + windowBytes) {
            move(offset, Math.max(count, WINDOW_BYTES));
        }
        return true;
    }

    byte[] bytes() {
        return window;
    }

    /** Where the byte at {@code offset} of the file lies in {@link #bytes}. */
    int place(long offset) {
        return (int) (offset - windowStart);
    }

    /** Keeps what the window has already: it may not be readable a second time. */
    private void move(long offset, int count) throws IOException {
        int wanted = (int) Math.min(count, length - offset);
        int known = (int) Math.max(0, windowStart + windowBytes - offset);
        byte[] moved = window.length >= wanted && known == 0 ? window : new byte[Math.max(wanted, WINDOW_BYTES)];
        if (known > 0) {
            System.arraycopy(window, place(offset), moved, 0, known);
        }
        window = moved;
        windowStart = offset;
        windowBytes = wanted;
        read(offset + known, known, wanted - known);
    }

    private void read(long offset, int place, int count) throws IOException {
        try {
            input.readFully(offset, ByteBuffer.wrap(window, place, count));
        } catch (IOException e) {
            readBlocks(offset, place, count);
        }
    }

    private void readBlocks(long offset, int place, int count) throws IOException {
        for (int done = 0; done < count; ) {
            int block = (int) Math.min(count - done, BLOCK_BYTES - (offset + done) % BLOCK_BYTES);
            try {
                input.readFully(offset + done, ByteBuffer.wrap(window, place + done, block));
            } catch (IOException e) {
                log.warn("{}: {} bytes at {} can't be read: {}", name, block, offset + done, e.getMessage());
                Arrays.fill(window, place + done, place + done + block, (byte) 0);
                unreadableBytes += block;
            }
            done += block;
        }
    }
}
