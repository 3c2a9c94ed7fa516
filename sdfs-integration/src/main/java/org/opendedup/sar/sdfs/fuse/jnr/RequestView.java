package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The request that a serving thread is serving ({@code fuse_in_header} and names of {@code linux/fuse.h}). libfuse
 * calls back for the request, but also for its own purposes: it renames an open file before the unlink, and unlinks it
 * later. This class distinguishes the two. For one thread.
 */
final class RequestView {
    private static final int OPCODE_GETATTR = 3;
    private static final int OPCODE_UNLINK = 10;
    private static final int OPCODE_RENAME = 12;
    private static final int OPCODE_FSYNC = 20;
    private static final int OPCODE_FSYNCDIR = 30;

    private static final int OPCODE_OFFSET = 4;
    private static final int NODE_OFFSET = 16;
    private static final int USER_OFFSET = 24;
    private static final int HEADER_BYTES = 40;
    /** Offset of the names of a rename, in bytes: after the node of the new directory. */
    private static final int RENAME_NAMES_OFFSET = HEADER_BYTES + 8;

    /** {@code fuse_getattr_in}: flags, padding, and a handle that is valid if its flag is set. */
    private static final int GETATTR_FLAGS_OFFSET = HEADER_BYTES;

    private static final int GETATTR_HANDLE_OFFSET = HEADER_BYTES + 8;
    private static final int GETATTR_BYTES = HEADER_BYTES + 16;
    private static final int GETATTR_BY_HANDLE = 1;

    private final ByteBuffer buffer;
    /** Length of the request in bytes; 0 between requests. */
    private int length;

    RequestView(ByteBuffer buffer) {
        this.buffer = buffer.duplicate().order(ByteOrder.nativeOrder());
    }

    void begin(int requestLength) {
        length = requestLength;
    }

    void end() {
        length = 0;
    }

    /** Returns whether the request makes data durable, and so waits for a commit. */
    boolean isSync() {
        return hasOpcode(OPCODE_FSYNC) || hasOpcode(OPCODE_FSYNCDIR);
    }

    int user() {
        return buffer.getInt(USER_OFFSET);
    }

    int length() {
        return length;
    }

    /** Returns the memory that begins with the request. */
    ByteBuffer buffer() {
        return buffer;
    }

    /** Returns a copy of the request in memory of its own. */
    ByteBuffer copy() {
        ByteBuffer copy = ByteBuffer.allocateDirect(length);
        return copy.put(0, buffer, 0, length);
    }

    boolean isUnlink() {
        return hasOpcode(OPCODE_UNLINK);
    }

    /** Returns whether the caller renames a file to this name. */
    boolean isRenameTo(byte[] name) {
        if (!hasOpcode(OPCODE_RENAME)) {
            return false;
        }
        int oldEnd = terminator(RENAME_NAMES_OFFSET);
        int newEnd = terminator(oldEnd + 1);
        byte[] wanted = new byte[Math.max(0, newEnd - oldEnd - 1)];
        buffer.get(oldEnd + 1, wanted);
        return Arrays.equals(wanted, name);
    }

    /** Returns libfuse's node number of the file in the request. */
    long node() {
        return buffer.getLong(NODE_OFFSET);
    }

    /** Returns whether the request is for attributes without a handle; libfuse then looks for a path. */
    boolean isForAttributesByPath() {
        return hasOpcode(OPCODE_GETATTR)
                && length >= GETATTR_BYTES
                && (buffer.getInt(GETATTR_FLAGS_OFFSET) & GETATTR_BY_HANDLE) == 0;
    }

    /** Changes a request for attributes by path ({@link #isForAttributesByPath}) so that libfuse uses this handle. */
    void goByHandle(long handle) {
        buffer.putInt(GETATTR_FLAGS_OFFSET, buffer.getInt(GETATTR_FLAGS_OFFSET) | GETATTR_BY_HANDLE);
        buffer.putLong(GETATTR_HANDLE_OFFSET, handle);
    }

    private boolean hasOpcode(int opcode) {
        return length >= HEADER_BYTES && buffer.getInt(OPCODE_OFFSET) == opcode;
    }

    private int terminator(int from) {
        int at = from;
        while (at < length && buffer.get(at) != 0) {
            at++;
        }
        return at;
    }

    @Override
    public String toString() {
        return length == 0 ? "no request" : "opcode " + buffer.getInt(OPCODE_OFFSET);
    }
}
