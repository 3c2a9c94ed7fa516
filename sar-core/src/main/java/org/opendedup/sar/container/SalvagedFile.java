package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file on a failing disk, of which as much as possible is read: an unreadable block becomes zeros, which match no
 * checksum. Keeps a window in memory that moves forward with its reader. For one thread.
 */
final class SalvagedFile {
    private static final Logger log = LoggerFactory.getLogger(SalvagedFile.class);

    /** Bytes per read while the disk works. */
    private static final int WINDOW_BYTES = 1 << 20;
    /** Bytes skipped at each read error: the sector size of most disks. */
    private static final int BLOCK_BYTES = 4096;

    private final Input input;
    private final String name;
    private final long length;
    private byte[] window = new byte[0];
    private long windowStart;
    private int windowBytes;

    /** @param maxBytes number of bytes to examine at most; later bytes are ignored */
    SalvagedFile(Input input, String name, long maxBytes) throws IOException {
        this.input = input;
        this.name = name;
        length = Math.min(input.length(), maxBytes);
    }

    /** Returns the name of the file. */
    @Override
    public String toString() {
        return name;
    }

    /** Returns the number of bytes that are examined. */
    long length() {
        return length;
    }

    /**
     * Loads {@code count} bytes from {@code offset} on into {@link #bytes}; returns false if the file ends earlier.
     * Offsets must not decrease.
     */
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

    /** Returns the position in {@link #bytes} of the byte at {@code offset} of the file. */
    int place(long offset) {
        return (int) (offset - windowStart);
    }

    /**
     * Moves the window to {@code offset}. Keeps the bytes that the window already has: a second read of them may fail.
     */
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
                NoAnswer.rethrow(e);
                log.warn("{}: {} bytes at {} can't be read: {}", name, block, offset + done, e.getMessage());
                Arrays.fill(window, place + done, place + done + block, (byte) 0);
            }
            done += block;
        }
    }
}
