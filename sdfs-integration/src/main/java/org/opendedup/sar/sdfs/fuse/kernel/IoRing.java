package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.sdfs.fuse.Errno;

/**
 * An io_uring (io_uring_setup(2)) with room for one command of 128 bytes. For the thread that made it: the kernel
 * completes commands only while this thread waits ({@code IORING_SETUP_DEFER_TASKRUN}), and refuses others.
 */
final class IoRing implements Closeable {
    /** Size of a command ({@code IORING_SETUP_SQE128}), in bytes. */
    static final int COMMAND_BYTES = 128;

    /** Result of {@link #submit}: the command is not complete. */
    static final int PENDING = Integer.MAX_VALUE;

    /** Result of {@link #await}: another thread has called {@link #wake}. */
    static final int WOKEN = PENDING - 1;

    static final long SETUP = 425;
    static final long ENTER = 426;

    private static final int SETUP_SQE128 = 1 << 10;
    private static final int SETUP_SINGLE_ISSUER = 1 << 12;
    private static final int SETUP_DEFER_TASKRUN = 1 << 13;
    private static final int FEATURE_SINGLE_MMAP = 1;
    private static final long ENTER_GETEVENTS = 1;
    private static final long OFFSET_OF_COMMANDS = 0x10000000L;
    private static final int COMPLETION_BYTES = 16;
    private static final byte OP_MSG_RING = 40;
    /** Mark of the completions that {@link #wake} makes. Those of commands have 0. */
    private static final long WAKE = 1;

    // Layout of struct io_uring_params, in bytes: fields of its own, then io_sqring_offsets and io_cqring_offsets.
    private static final int PARAMS_BYTES = 120;
    private static final int PARAMS_FLAGS = 8;
    private static final int PARAMS_FEATURES = 20;
    private static final int COMMANDS_HEAD = 40;
    private static final int COMMANDS_TAIL = COMMANDS_HEAD + 4;
    private static final int COMMANDS_ARRAY = COMMANDS_HEAD + 24;
    private static final int COMPLETIONS_HEAD = 80;
    private static final int COMPLETIONS_TAIL = COMPLETIONS_HEAD + 4;
    private static final int COMPLETIONS_MASK = COMPLETIONS_HEAD + 8;
    private static final int COMPLETIONS = COMPLETIONS_HEAD + 20;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final Libc libc;
    private final int fd;
    private final Mapping queuesMapping;
    private final Mapping commandMapping;
    private final ByteBuffer queues;
    private final ByteBuffer command;
    private final int commandsHead;
    private final int commandsTail;
    private final int completionsHead;
    private final int completionsTail;
    private final int completionsMask;
    private final int completions;

    /** Counts the commands that were handed to the kernel. */
    private int submitted;

    private boolean woken;

    private IoRing(Libc libc, int fd, ByteBuffer params) throws IOException {
        this.libc = libc;
        this.fd = fd;
        commandsHead = params.getInt(COMMANDS_HEAD);
        commandsTail = params.getInt(COMMANDS_TAIL);
        completionsHead = params.getInt(COMPLETIONS_HEAD);
        completionsTail = params.getInt(COMPLETIONS_TAIL);
        completions = params.getInt(COMPLETIONS);
        int entries = params.getInt(4);
        int bytes = Math.max(completions + entries * COMPLETION_BYTES, params.getInt(COMMANDS_ARRAY) + Integer.BYTES);
        queuesMapping = new Mapping(libc, fd, 0, bytes);
        try {
            commandMapping = new Mapping(libc, fd, OFFSET_OF_COMMANDS, COMMAND_BYTES);
        } catch (IOException e) {
            queuesMapping.close();
            throw e;
        }
        queues = queuesMapping.buffer();
        command = commandMapping.buffer();
        completionsMask = queues.getInt(params.getInt(COMPLETIONS_MASK));
        submitted = queues.getInt(commandsTail);
    }

    /** @throws IOException if the kernel has no io_uring of this kind, or does not permit it */
    static IoRing open(Libc libc) throws IOException {
        ByteBuffer params = ByteBuffer.allocateDirect(PARAMS_BYTES).order(ByteOrder.nativeOrder());
        params.putInt(PARAMS_FLAGS, SETUP_SQE128 | SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN);
        int fd = (int) libc.systemCall(SETUP, 1, libc.address(params), 0, 0, 0);
        if (fd < 0) {
            throw libc.failure("io_uring_setup");
        }
        try {
            if ((params.getInt(PARAMS_FEATURES) & FEATURE_SINGLE_MMAP) == 0) {
                throw new IOException("io_uring maps its two queues apart");
            }
            return new IoRing(libc, fd, params);
        } catch (IOException e) {
            libc.functions().close(fd);
            throw e;
        }
    }

    /** Returns the memory of the next command ({@code struct io_uring_sqe}), which {@link #submit} hands over. */
    ByteBuffer command() {
        return command;
    }

    /**
     * Hands the command to the kernel, without waiting for its completion.
     *
     * @return its result if it is complete already; otherwise {@link #PENDING}
     */
    int submit() throws IOException {
        INT.setRelease(queues, commandsTail, ++submitted);
        while (unread() > 0) {
            enter(0, 0);
        }
        return poll();
    }

    /** Hands the command to the kernel and waits for its completion; see {@link #await}. */
    int submitAndAwait() throws IOException {
        INT.setRelease(queues, commandsTail, ++submitted);
        return await();
    }

    /**
     * Waits until the command is complete, or another thread wakes this one.
     *
     * @return its result: not negative, or a negative error number; or {@link #WOKEN}
     */
    int await() throws IOException {
        while (true) {
            if (unread() == 0) {
                int result = poll();
                if (result != PENDING) {
                    return result;
                }
                if (woken) {
                    woken = false;
                    return WOKEN;
                }
            }
            enter(1, ENTER_GETEVENTS);
        }
    }

    /** Makes {@link #await} return in the thread of another ring. Without effect if there is no such ring. */
    void wake(int ring) throws IOException {
        for (int i = 0; i < COMMAND_BYTES; i += Long.BYTES) {
            command.putLong(i, 0);
        }
        command.put(0, OP_MSG_RING).putInt(4, ring).putLong(8, WAKE);
        submitAndAwait();
    }

    /** Returns the descriptor, for {@link #wake}. */
    int descriptor() {
        return fd;
    }

    /** Takes the completions that are here. Returns the result of the command, or {@link #PENDING}. */
    private int poll() {
        int result = PENDING;
        while (result == PENDING && isComplete()) {
            result = takeResult();
        }
        return result;
    }

    private int unread() {
        return submitted - (int) INT.getAcquire(queues, commandsHead);
    }

    private void enter(int completionsToAwait, long flags) throws IOException {
        long result = libc.systemCall(ENTER, fd, unread(), completionsToAwait, flags, 0);
        if (result < 0 && libc.errno() != Errno.EINTR && libc.errno() != Errno.EAGAIN) {
            throw libc.failure("io_uring_enter");
        }
    }

    private boolean isComplete() {
        return (int) INT.getAcquire(queues, completionsTail) != queues.getInt(completionsHead);
    }

    private int takeResult() {
        int head = queues.getInt(completionsHead);
        int completion = completions + (head & completionsMask) * COMPLETION_BYTES;
        boolean wake = queues.getLong(completion) == WAKE;
        int result = queues.getInt(completion + 8);
        INT.setRelease(queues, completionsHead, head + 1);
        woken |= wake;
        return wake ? PENDING : result;
    }

    @Override
    public void close() {
        libc.functions().close(fd);
        commandMapping.close();
        queuesMapping.close();
    }
}
