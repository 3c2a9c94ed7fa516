package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The request that a serving thread has in hand ({@code fuse_in_header} and names of {@code linux/fuse.h}). libfuse calls
 * back for it, but also on its own account: it renames an open file before it is unlinked, and unlinks it later. This tells
 * the two apart. For one thread.
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
    /** A rename's names follow the new directory's node. */
    private static final int RENAME_NAMES_OFFSET = HEADER_BYTES + 8;

    /** {@code fuse_getattr_in}: flags, padding, a handle that counts if the flag for it is set. */
    private static final int GETATTR_FLAGS_OFFSET = HEADER_BYTES;

    private static final int GETATTR_HANDLE_OFFSET = HEADER_BYTES + 8;
    private static final int GETATTR_BYTES = HEADER_BYTES + 16;
    private static final int GETATTR_BY_HANDLE = 1;

    private final ByteBuffer buffer;
    /** Length of the request; 0 between requests. */
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

    /** Whether it asks for something to be made durable, and so waits for a commit. */
    boolean isSync() {
        return hasOpcode(OPCODE_FSYNC) || hasOpcode(OPCODE_FSYNCDIR);
    }

    int user() {
        return buffer.getInt(USER_OFFSET);
    }

    int length() {
        return length;
    }

    /** The memory that the request lies in, at its beginning. */
    ByteBuffer buffer() {
        return buffer;
    }

    /** The request alone, in memory of its own. */
    ByteBuffer copy() {
        ByteBuffer copy = ByteBuffer.allocateDirect(length);
        return copy.put(0, buffer, 0, length);
    }

    boolean isUnlink() {
        return hasOpcode(OPCODE_UNLINK);
    }

    /** Whether the caller renames something to this name. */
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

    /** libfuse's number of the file that it is about. */
    long node() {
        return buffer.getLong(NODE_OFFSET);
    }

    /** Whether attributes are asked for without a handle; libfuse then looks for a path. */
    boolean isForAttributesByPath() {
        return hasOpcode(OPCODE_GETATTR)
                && length >= GETATTR_BYTES
                && (buffer.getInt(GETATTR_FLAGS_OFFSET) & GETATTR_BY_HANDLE) == 0;
    }

    /** Changes a request {@link #isForAttributesByPath}: libfuse will go by this handle. */
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
