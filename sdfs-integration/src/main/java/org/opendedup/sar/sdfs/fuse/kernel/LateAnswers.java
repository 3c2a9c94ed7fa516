package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests that must wait until the kernel has sent the cached writes of a file. Uses one extra thread for all
 * channels of a mount. A worker must not wait, because workers receive these writes: if all of them waited, no write
 * would be served.
 */
final class LateAnswers {
    private static final int REPLY_BYTES = OUT_HEADER_BYTES + Long.BYTES;
    private static final long IDLE_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(LateAnswers.class);

    private final Libc libc;
    private final ExecutorService thread;
    private final Invalidation invalidation;
    private final ByteBuffer reply = ByteBuffer.allocateDirect(REPLY_BYTES).order(ByteOrder.nativeOrder());

    LateAnswers(Libc libc) {
        this.libc = libc;
        this.invalidation = new Invalidation(libc);
        // The queue holds at most one task per waiting thread of other programs. The thread ends when it is idle.
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, "fuse-late");
                    made.setDaemon(true);
                    return made;
                });
        executor.allowCoreThreadTimeOut(true);
        thread = executor;
    }

    /**
     * See {@link KernelCache#answerAfterWriteBack}.
     *
     * @param device the descriptor that the request was read from; the reply is written to it
     * @param inode number of the inode
     * @param from file offset in bytes
     * @param unique number of the request
     * @param answer computes the answer after the write-back
     */
    void submit(Descriptor device, long inode, long from, long unique, LateAnswer answer) {
        thread.execute(() -> {
            device.whileOpen(fd -> writeBack(fd, inode, from));
            long value = answer.get();
            device.whileOpen(fd -> send(fd, unique, value));
        });
    }

    /**
     * Makes the kernel write back an inode from an offset on. The kernel has no message that only writes back: this one
     * also drops its clean pages from that offset on.
     */
    private void writeBack(int fd, long inode, long from) {
        if (!invalidation.send(fd, inode, from)) {
            LOG.warn(
                    "the kernel did not write back inode {}: {}",
                    inode,
                    libc.functions().strerror(libc.errno()));
        }
    }

    private void send(int fd, long unique, long value) {
        int length = value < 0 ? OUT_HEADER_BYTES : REPLY_BYTES;
        reply.putInt(0, length).putInt(4, (int) Math.min(0, value)).putLong(8, unique);
        reply.putLong(OUT_HEADER_BYTES, value);
        boolean sent = libc.functions().write(fd, libc.address(reply), length) == length;
        // ENOENT: the calling program was killed meanwhile.
        if (!sent && libc.errno() != Errno.ENOENT) {
            LOG.warn("the kernel refused a late answer: {}", libc.functions().strerror(libc.errno()));
        }
    }
}
