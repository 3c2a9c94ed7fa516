package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;

import java.io.Closeable;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.Asker;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateAnswer;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateReply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests that may take long, or must wait until the kernel has sent the cached writes of a file, with a few
 * threads for all channels of a mount: one user after another in turn. Workers must not wait, because they receive the
 * requests of all users, and these writes: if all of them waited, nobody would be served.
 */
final class LateAnswers implements Closeable {
    private static final int THREADS = 4;
    /** Threads for what may take minutes, so that searches and copies do not wait for it. */
    private static final int LONG_THREADS = 8;

    private static final int REPLY_BYTES = OUT_HEADER_BYTES + Long.BYTES;
    private static final Logger LOG = LoggerFactory.getLogger(LateAnswers.class);

    private final Libc libc;
    /** With at most one task per waiting thread of other programs. */
    private final SyncThreads threads = new SyncThreads(THREADS, "fuse-late");

    /** One for each thread: a notification is put into its memory before it is sent. */
    private final ThreadLocal<Invalidation> invalidation;

    private final SyncThreads longThreads = new SyncThreads(LONG_THREADS, "fuse-late-long");

    /** Guarded by itself. */
    private final ByteBuffer reply = ByteBuffer.allocateDirect(REPLY_BYTES).order(ByteOrder.nativeOrder());

    LateAnswers(Libc libc) {
        this.libc = libc;
        this.invalidation = ThreadLocal.withInitial(() -> new Invalidation(libc));
    }

    /**
     * See {@link KernelCache#answerInTurn}.
     *
     * @param device the descriptor that the request was read from; the reply is written to it
     */
    void submit(SharedDescriptor device, Asker asker, LateAnswer answer) {
        threads.execute(asker.user(), () -> send(device, asker.unique(), answer.get()));
    }

    /** See {@link KernelCache#answerAfterWriteBack}. */
    void submitAfterWriteBack(SharedDescriptor device, Asker asker, long inode, long from, LateAnswer answer) {
        submit(device, asker, () -> isWrittenBack(device, inode, from) ? answer.get() : -Errno.EIO);
    }

    /** See {@link KernelCache#answerOrDropPages}. */
    void submitOrDropPages(SharedDescriptor device, Asker asker, long inode, long from, LateAnswer answer) {
        submit(device, asker, () -> {
            long value = answer.get();
            if (value < 0) {
                isWrittenBack(device, inode, from);
            }
            return value;
        });
    }

    /**
     * Makes the kernel write back an inode from an offset on. The kernel has no message that only writes back: this one
     * also drops its clean pages from that offset on. It takes as long as the writes, and others answer meanwhile
     * through the same descriptor.
     *
     * @return whether the kernel did so; if not, what it has would be missing in an answer
     */
    private boolean isWrittenBack(SharedDescriptor device, long inode, long from) {
        boolean[] sent = new boolean[1];
        device.withCopy(fd -> {
            sent[0] = invalidation.get().send(fd, inode, from);
            if (!sent[0]) {
                LOG.warn(
                        "the kernel did not write back inode {}: {}",
                        inode,
                        libc.functions().strerror(Libc.errno()));
            }
        });
        return sent[0];
    }

    /** See {@link KernelCache#replyInTurn}. */
    void submit(SharedDescriptor device, Asker asker, boolean takesMinutes, LateReply late) {
        (takesMinutes ? longThreads : threads).execute(asker.user(), () -> {
            ByteBuffer whole = late.get();
            if (!whole.hasRemaining()) {
                return;
            }
            boolean[] isAccepted = new boolean[1];
            device.whileOpen(fd -> isAccepted[0] = write(fd, whole, whole.limit()));
            if (!isAccepted[0]) {
                late.takeBack();
            }
        });
    }

    /**
     * Answers a request.
     *
     * @param value as {@link LateAnswer#get} returns it
     */
    void send(SharedDescriptor device, long unique, long value) {
        device.whileOpen(fd -> send(fd, unique, value));
    }

    private void send(int fd, long unique, long value) {
        synchronized (reply) {
            int length = value < 0 || value == LateAnswer.DONE ? OUT_HEADER_BYTES : REPLY_BYTES;
            reply.putInt(0, length).putInt(4, (int) Math.min(0, value)).putLong(8, unique);
            reply.putLong(OUT_HEADER_BYTES, value);
            write(fd, reply, length);
        }
    }

    /** Writes the first {@code length} bytes of a direct buffer. Returns false if the kernel did not accept them. */
    private boolean write(int fd, ByteBuffer whole, int length) {
        boolean isAccepted = libc.functions().write(fd, Libc.address(whole), length) == length;
        Reference.reachabilityFence(whole);
        if (!isAccepted && !isPointless(Libc.errno())) {
            LOG.warn("the kernel refused a late answer: {}", libc.functions().strerror(Libc.errno()));
        }
        return isAccepted;
    }

    /** Returns whether a reply is refused because no program waits: it was killed, or the mount has ended meanwhile. */
    static boolean isPointless(int errno) {
        return errno == Errno.ENOENT || errno == Errno.ENODEV || errno == Errno.ECONNABORTED || errno == Errno.EPERM;
    }

    /** Waits until all requests are answered. None may be added after this call. */
    @Override
    public void close() {
        threads.close();
        longThreads.close();
    }
}
