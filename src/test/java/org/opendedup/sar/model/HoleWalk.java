package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

/**
 * Walks over a file by SEEK_DATA and SEEK_HOLE: positions must ascend and stay within the file, and holes must contain
 * only zeros.
 */
final class HoleWalk {
    private static final int READ_BYTES = 1 << 16;

    private final FileSystem.Handle handle;
    private final long size;

    private HoleWalk(FileSystem.Handle handle, long size) {
        this.handle = handle;
        this.size = size;
    }

    /** The same result for every correct file system: how many of its holes it reports is not specified. */
    static String check(FileSystem.Handle handle, long offset, long size) throws IOException {
        return new HoleWalk(handle, size).from(offset);
    }

    private String from(long offset) throws IOException {
        if (offset >= size) {
            handle.seekHole(offset);
            return "FAILED: a hole at " + offset + " of " + size + " bytes";
        }
        for (long at = offset; at < size; ) {
            long data = nextData(at);
            if (data < at || data > size) {
                return "FAILED: data behind " + at + " is at " + data + " of " + size + " bytes";
            }
            long nonZero = firstNonZero(at, data);
            if (nonZero < data) {
                return "FAILED: byte " + nonZero + " is no zero, in a hole from " + at + " to " + data;
            }
            if (data > at && handle.seekHole(at) != at) {
                return "FAILED: " + at + " is in a hole to " + data + ", the hole is at " + handle.seekHole(at);
            }
            at = data == size ? size : handle.seekHole(data);
            if (data < size && at <= data || at > size) {
                return "FAILED: the hole behind " + data + " is at " + at + " of " + size + " bytes";
            }
        }
        return "seeked";
    }

    private long nextData(long at) throws IOException {
        try {
            return handle.seekData(at);
        } catch (PosixException e) {
            if (e.reason() == Reason.ENXIO) {
                return size;
            }
            throw e;
        }
    }

    private long firstNonZero(long from, long to) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(READ_BYTES);
        for (long at = from; at < to; at += READ_BYTES) {
            int read = handle.read(at, bytes.clear().limit((int) Math.min(READ_BYTES, to - at)));
            for (int i = 0; i < read; i++) {
                if (bytes.get(i) != 0) {
                    return at + i;
                }
            }
        }
        return to;
    }
}
