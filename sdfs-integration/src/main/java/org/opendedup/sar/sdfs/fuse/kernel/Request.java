package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.IN_HEADER_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Decodes the request in a buffer: its header, and its arguments one after another. Each take method checks that the
 * message is long enough. One object serves all requests of a channel.
 *
 * <p>Header ({@code fuse_in_header}), sizes in bytes: length 4, opcode 4, unique 8, node 8, uid 4, gid 4, pid 4, unused
 * 4.
 */
final class Request {
    private final ByteBuffer buffer;
    /** The same bytes; position and limit are set again for each payload. */
    private final ByteBuffer payload;

    private int end;
    private int position;
    /** Offset of the first name taken, in bytes; {@link #nameLength} is 0 if none was taken. */
    private int nameStart;

    private int nameLength;

    Request(ByteBuffer buffer) {
        this.buffer = buffer.order(ByteOrder.nativeOrder());
        this.payload = buffer.duplicate();
    }

    /**
     * Starts decoding the message in the first {@code length} bytes of the buffer.
     *
     * @return false if the message is shorter than a header: it cannot be answered
     */
    boolean begin(int length) {
        end = Math.min(length, buffer.capacity());
        position = IN_HEADER_BYTES;
        nameLength = 0;
        return end >= position;
    }

    void checkLength() throws MalformedRequestException {
        int length = buffer.getInt(0);
        if (length != end) {
            throw new MalformedRequestException("its length says " + length + ", its bytes are " + end);
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

    /** Returns the thread ID of the caller in the service's pid namespace; 0 if it has none there. */
    int pid() {
        return buffer.getInt(32);
    }

    Owner caller() {
        return caller(0);
    }

    /** @param umask permission bits to clear, if this service applies the umask; see {@link Owner} */
    Owner caller(int umask) {
        return new Owner(buffer.getInt(24), buffer.getInt(28), umask);
    }

    /** Takes the next {@code bytes} bytes and returns their offset in the buffer. */
    int take(int bytes) throws MalformedRequestException {
        if (bytes < 0 || bytes > remaining()) {
            throw new MalformedRequestException("opcode " + opcode() + " needs " + Integer.toUnsignedString(bytes)
                    + " bytes at " + position + ", the message ends at " + end);
        }
        int taken = position;
        position += bytes;
        return taken;
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

    /** Takes a file offset or a length, in bytes. */
    long takeFileOffset() throws MalformedRequestException {
        long offset = takeLong();
        if (offset < 0) {
            throw new MalformedRequestException("opcode " + opcode() + " with file offset " + offset);
        }
        return offset;
    }

    /** Takes a name in a directory. ENAMETOOLONG. */
    byte[] takeName() throws MalformedRequestException, PosixException {
        int first = position;
        byte[] name = takeString(Protocol.MAX_NAME_BYTES);
        for (byte b : name) {
            if (b == '/') {
                throw new MalformedRequestException("opcode " + opcode() + " with a slash in a name");
            }
        }
        if (nameLength == 0) {
            nameStart = first;
            nameLength = name.length;
        }
        return name;
    }

    /** Returns the first name taken from this request; null if none was taken. */
    byte @Nullable [] firstName() {
        return nameLength == 0 ? null : copy(nameStart, nameLength);
    }

    /** Takes bytes up to and including a terminating zero, and returns them without the zero. ENAMETOOLONG. */
    byte[] takeString(int maxBytes) throws MalformedRequestException, PosixException {
        int first = position;
        int terminator = first;
        while (terminator < end && buffer.get(terminator) != 0) {
            terminator++;
        }
        if (terminator == end || terminator == first) {
            throw new MalformedRequestException(
                    "opcode " + opcode() + (terminator == end ? ": name without end" : ": empty name"));
        }
        int length = terminator - first;
        if (length > maxBytes) {
            throw new PosixException(
                    PosixException.Reason.ENAMETOOLONG, length + " bytes, " + maxBytes + " are allowed");
        }
        position = terminator + 1;
        return copy(first, length);
    }

    /** Returns a copy of the whole message. */
    ByteBuffer message() {
        return ByteBuffer.wrap(copy(0, end));
    }

    byte[] takeBytes(int length) throws MalformedRequestException {
        return copy(take(length), length);
    }

    private byte[] copy(int offset, int length) {
        byte[] bytes = new byte[length];
        buffer.get(offset, bytes);
        return bytes;
    }

    /** Takes {@code length} bytes without copying. The returned buffer is valid until the next request. */
    ByteBuffer takePayload(int length) throws MalformedRequestException {
        int first = take(length);
        return payload.limit(first + length).position(first);
    }
}
