package org.opendedup.sar.sim.block;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.opendedup.sar.sim.trace.TraceFormatException;

/** Lines of a file as ranges of one byte array, without copying them. For one thread. */
final class LineBuffer implements Closeable {
    private static final byte NEWLINE = '\n';
    /** Size of the buffer in bytes; far more than a line with eight digests, or a tar header with its padding. */
    static final int CAPACITY = 1 << 20;

    private final String file;
    private final InputStream in;
    private final byte[] bytes = new byte[CAPACITY];
    private int filled;
    private int start;
    private int end;
    private int next;
    private long line;
    private long skippedHeaders;
    private boolean ended;

    /** @param file its name, for messages */
    LineBuffer(String file, InputStream in) {
        this.file = file;
        this.in = in;
    }

    /**
     * Moves to the next line; returns false at the end.
     *
     * @throws TraceFormatException if a line does not end within the buffer
     */
    boolean next() throws IOException {
        int newline = find(next);
        while (newline < 0 && !ended) {
            int searched = filled - next;
            refill();
            newline = find(next + searched);
        }
        if (newline < 0 && next == filled) {
            return false;
        }
        start = next;
        end = newline < 0 ? filled : newline;
        next = newline < 0 ? filled : newline + 1;
        line++;
        return true;
    }

    private int find(int from) {
        for (int i = from; i < filled; i++) {
            if (bytes[i] == NEWLINE) {
                return i;
            }
        }
        return -1;
    }

    private void refill() throws IOException {
        System.arraycopy(bytes, next, bytes, 0, filled - next);
        filled -= next;
        next = 0;
        if (filled == CAPACITY) {
            throw new TraceFormatException(file, line + 1, "no end of the line within " + CAPACITY + " bytes");
        }
        int read = in.read(bytes, filled, CAPACITY - filled);
        ended = read < 0;
        filled += Math.max(0, read);
    }

    /**
     * Removes NUL bytes and everything before them from the line: in a tar archive, the header and the padding around
     * the file do not end with a newline. Returns false if there are none.
     */
    boolean skipArchive() {
        for (int i = end - 1; i >= start; i--) {
            if (bytes[i] == 0) {
                start = i + 1;
                skippedHeaders++;
                return true;
            }
        }
        return false;
    }

    byte[] bytes() {
        return bytes;
    }

    /** Returns the start of the line in {@link #bytes}; valid until the next line. */
    int start() {
        return start;
    }

    /** Returns the position after its last byte. */
    int end() {
        return end;
    }

    /** Returns the number of the line in the file, from 1. */
    long line() {
        return line;
    }

    /** Returns the number of lines that began with bytes that are not text. */
    long skippedHeaders() {
        return skippedHeaders;
    }

    boolean equalsLine(byte[] other, int length) {
        return Arrays.equals(bytes, start, end, other, 0, length);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
