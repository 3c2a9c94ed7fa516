package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.IN_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/**
 * A request and its reply in the memory of an entry. The kernel puts a request in three places ({@code struct
 * fuse_uring_req_header}): its header, the arguments of its kind, and the payload, which is in the pages after it.
 * {@link #arrange} copies header and arguments to the bytes before the payload, so that the request is in one piece.
 * The body of the reply takes the place of the payload; its header the 16 bytes before it.
 */
final class RingMessage {
    /** Size of {@code struct fuse_uring_req_header}, in bytes. */
    static final int HEADER_BYTES = 288;

    /** Where the payload begins, in bytes. */
    static final int PAYLOAD = PAGE_BYTES;

    private static final int ARGUMENTS = 128;
    private static final int MAX_ARGUMENTS_BYTES = 128;
    private static final int PAYLOAD_BYTES = 256 + 16;
    /** Field {@code size} of {@code struct fuse_read_in}. */
    private static final int READ_SIZE = ARGUMENTS + 16;

    private static final int LARGE_BYTES = 64 << 10;
    private static final int VECTORS = 512;
    private static final int REPLY = PAYLOAD - OUT_HEADER_BYTES;

    /** Result of {@link #arrange}: the sizes of the request contradict each other. */
    static final int MALFORMED = -1;

    private final ByteBuffer memory;
    private final ByteBuffer reply;

    /** @param memory headers and payload of an entry */
    RingMessage(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.nativeOrder());
        this.reply = memory.slice(REPLY, OUT_HEADER_BYTES + MAX_IO_BYTES).order(ByteOrder.nativeOrder());
    }

    /**
     * Writes the two {@code struct iovec} that tell the kernel where an entry is.
     *
     * @param entry address at which the kernel uses this memory
     * @return offset of the first one in the memory, in bytes
     */
    int putVectors(long entry) {
        memory.putLong(VECTORS, entry).putLong(VECTORS + 8, HEADER_BYTES);
        memory.putLong(VECTORS + 16, entry + PAYLOAD).putLong(VECTORS + 24, MAX_IO_BYTES);
        return VECTORS;
    }

    /** Returns the memory; a request is where {@link #arrange} says. */
    ByteBuffer requestBuffer() {
        return memory;
    }

    /** Returns the memory for a reply, which begins with its header. */
    ByteBuffer replyBuffer() {
        return reply;
    }

    /** Returns the length of the request, in bytes. */
    int length() {
        return memory.getInt(0);
    }

    /** Returns the length of what follows the arguments of the request, in bytes. */
    int payloadBytes() {
        return memory.getInt(PAYLOAD_BYTES);
    }

    /** Returns whether the request reads or writes bytes of files. */
    boolean movesData() {
        return switch (memory.getInt(4)) {
            case Opcode.READ, Opcode.WRITE, Opcode.FALLOCATE, Opcode.COPY_FILE_RANGE, Opcode.COPY_FILE_RANGE_64 -> true;
            default -> false;
        };
    }

    boolean isRead() {
        return memory.getInt(4) == Opcode.READ;
    }

    /** Returns whether a request that moves data takes long, compared with waking another thread. */
    boolean isLarge() {
        return switch (memory.getInt(4)) {
            case Opcode.READ -> memory.getInt(READ_SIZE) >= LARGE_BYTES;
            case Opcode.WRITE -> payloadBytes() >= LARGE_BYTES;
            default -> true;
        };
    }

    /** Returns the ID of the thread that waits for the request; 0 if it has none in this pid namespace. */
    int pid() {
        return memory.getInt(32);
    }

    long unique() {
        return memory.getLong(8);
    }

    /**
     * Puts the request in one piece.
     *
     * @return its offset in the memory, in bytes; or {@link #MALFORMED}
     */
    int arrange() {
        int payload = payloadBytes();
        int arguments = length() - IN_HEADER_BYTES - payload;
        if (payload < 0 || payload > MAX_IO_BYTES || arguments < 0 || arguments > MAX_ARGUMENTS_BYTES) {
            return MALFORMED;
        }
        int start = PAYLOAD - arguments - IN_HEADER_BYTES;
        for (int i = 0; i < IN_HEADER_BYTES; i += Long.BYTES) {
            memory.putLong(start + i, memory.getLong(i));
        }
        memory.put(start + IN_HEADER_BYTES, memory, ARGUMENTS, arguments);
        return start;
    }

    /** Makes the reply in the reply buffer, of {@code length} bytes, the one that the kernel takes. */
    void putReply(int length) {
        memory.putLong(0, reply.getLong(0)).putLong(8, reply.getLong(8));
        memory.putInt(PAYLOAD_BYTES, length - OUT_HEADER_BYTES);
    }

    /** Makes a reply without a body the one that the kernel takes: 0 or an error number. */
    void putReply(long unique, int errno) {
        memory.putInt(0, OUT_HEADER_BYTES).putInt(4, -errno).putLong(8, unique);
        memory.putInt(PAYLOAD_BYTES, 0);
    }

    /** Makes a reply whose body is one number the one that the kernel takes. */
    void putNumber(long unique, long number) {
        putReply(unique, 0);
        memory.putLong(PAYLOAD, number).putInt(0, OUT_HEADER_BYTES + Long.BYTES).putInt(PAYLOAD_BYTES, Long.BYTES);
    }
}
