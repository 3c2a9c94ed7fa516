package org.opendedup.sar.sdfs.fuse.kernel;

import java.nio.ByteBuffer;

/**
 * Commands of FUSE over io_uring ({@code enum fuse_uring_cmd}) in a {@code struct io_uring_sqe}, whose last 80 bytes
 * hold {@code struct fuse_uring_cmd_req}.
 */
final class RingCommand {
    private static final byte IORING_OP_URING_CMD = 46;
    private static final int REGISTER = 1;
    private static final int COMMIT_AND_FETCH = 2;

    private static final int FD = 4;
    private static final int OPERATION = 8;
    private static final int VECTORS = 16;
    private static final int VECTOR_COUNT = 24;
    private static final int COMMIT_ID = 56;
    private static final int QUEUE = 64;

    private RingCommand() {}

    /**
     * Adds an entry to a queue of the kernel. The command completes when the entry holds a request.
     *
     * @param device descriptor of the FUSE device
     * @param queue number of the processor
     * @param vectors address of two {@code struct iovec}: header and payload
     */
    static void register(ByteBuffer command, int device, int queue, long vectors) {
        begin(command, device, REGISTER, queue);
        command.putLong(VECTORS, vectors).putInt(VECTOR_COUNT, 2);
    }

    /** Answers request {@code unique} from its entry. The command completes when the entry holds the next request. */
    static void commit(ByteBuffer command, int device, int queue, long unique) {
        begin(command, device, COMMIT_AND_FETCH, queue);
        command.putLong(COMMIT_ID, unique);
    }

    private static void begin(ByteBuffer command, int device, int operation, int queue) {
        for (int i = 0; i < IoRing.COMMAND_BYTES; i += Long.BYTES) {
            command.putLong(i, 0);
        }
        command.put(0, IORING_OP_URING_CMD).putInt(FD, device).putInt(OPERATION, operation);
        command.putShort(QUEUE, (short) queue);
    }
}
