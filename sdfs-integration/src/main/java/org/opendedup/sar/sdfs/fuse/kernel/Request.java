package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.IN_HEADER_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.volume.Owner;

/**
 * The request in a buffer: its header, and its arguments taken one behind the other. Each taking checks that the message
 * is long enough. One object serves all requests of a channel.
 *
 * <p>Header ({@code fuse_in_header}): length 4, opcode 4, unique 8, node 8, uid 4, gid 4, pid 4, 4 unused.
 */
final class Request {
    private final ByteBuffer buffer;
    /** The same bytes; its position and limit are set anew for each payload. */
    private final ByteBuffer payload;

    private int end;
    private int position;

    Request(ByteBuffer buffer) {
        this.buffer = buffer.order(ByteOrder.nativeOrder());
        this.payload = buffer.duplicate();
    }

    /**
     * Starts with the message in the buffer's first {@code length} bytes.
     *
     * @return false if that is not even a header: it cannot be answered
     */
    boolean begin(int length) {
        end = Math.min(length, buffer.capacity());
        position = IN_HEADER_BYTES;
        return end >= IN_HEADER_BYTES;
    }

    void checkLength() throws MalformedRequestException {
        if (buffer.getInt(0) != end) {
            throw new MalformedRequestException("its length says " + buffer.getInt(0) + ", its bytes are " + end);
        }
    }

    int opcode() {
        return buffer.getInt(4);
    }

    long unique() {
        return buffer.getLong(8);
    }

    long node() {
        return buffer.getLong(16);
    }

    int uid() {
        return buffer.getInt(24);
    }

    /** The caller's thread, as the service's pid namespace numbers it; 0 if it does not. */
    int pid() {
        return buffer.getInt(32);
    }

    Owner caller() {
        return caller(0);
    }

    /** @param umask what the caller wants off, where this service applies it; see {@link Owner} */
    Owner caller(int umask) {
        return new Owner(buffer.getInt(24), buffer.getInt(28), umask);
    }

    /** Takes the next {@code bytes} bytes and returns where they begin. */
    int take(int bytes) throws MalformedRequestException {
        if (bytes < 0 || bytes > remaining()) {
            throw new MalformedRequestException("opcode " + opcode() + " needs " + Integer.toUnsignedString(bytes)
                    + " bytes at " + position + ", the message ends at " + end);
        }
        int start = position;
        position += bytes;
        return start;
    }

    int remaining() {
        return end - position;
    }

    int takeInt() throws MalformedRequestException {
        return buffer.getInt(take(4));
    }

    long takeLong() throws MalformedRequestException {
        return buffer.getLong(take(8));
    }

    void skip(int bytes) throws MalformedRequestException {
        take(bytes);
    }

    /** Takes an offset or size in a file. */
    long takeFileOffset() throws MalformedRequestException {
        long offset = takeLong();
        if (offset < 0) {
            throw new MalformedRequestException("opcode " + opcode() + " with file offset " + offset);
        }
        return offset;
    }

    /** Takes a name in a directory. ENAMETOOLONG. */
    byte[] takeName() throws MalformedRequestException, PosixException {
        byte[] name = takeString(Protocol.MAX_NAME_BYTES);
        for (byte b : name) {
            if (b == '/') {
                throw new MalformedRequestException("opcode " + opcode() + " with a slash in a name");
            }
        }
        return name;
    }

    /** Takes bytes up to and with a terminating zero, which is not returned. ENAMETOOLONG. */
    byte[] takeString(int maxBytes) throws MalformedRequestException, PosixException {
        int start = position;
        int terminator = start;
        while (terminator < end && buffer.get(terminator) != 0) {
            terminator++;
        }
        if (terminator == end || terminator == start) {
            throw new MalformedRequestException(
                    "opcode " + opcode() + (terminator == end ? ": name without end" : ": empty name"));
        }
        int length = terminator - start;
        if (length > maxBytes) {
            throw new PosixException(
                    PosixException.Reason.ENAMETOOLONG, length + " bytes, " + maxBytes + " are allowed");
        }
        position = terminator + 1;
        return copy(start, length);
    }

    byte[] takeBytes(int length) throws MalformedRequestException {
        return copy(take(length), length);
    }

    private byte[] copy(int start, int length) {
        byte[] bytes = new byte[length];
        buffer.get(start, bytes);
        return bytes;
    }

    /** Takes {@code length} bytes without copying; the buffer returned is valid until the next request. */
    ByteBuffer takePayload(int length) throws MalformedRequestException {
        int start = take(length);
        return payload.limit(start + length).position(start);
    }
}
