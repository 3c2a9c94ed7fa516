package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.IN_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.WRITE_IN_BYTES;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One descriptor of the FUSE device, with one buffer for requests and one for replies. A reply must be written to the
 * descriptor that its request was read from. For one thread, except {@link #served} and the methods marked for other
 * threads. Owns the descriptor.
 */
final class Channel implements KernelCache, Closeable {
    /** Result of {@link #receive}: the file system is unmounted. */
    static final int UNMOUNTED = -1;
    /** Result of {@link #receive}: the connection was aborted, and the mount point still exists. */
    static final int ABORTED = -2;

    /** {@code _IOR(229, 0, uint32_t)}: connects a descriptor of the device to a mount, as another channel. */
    private static final long FUSE_DEV_IOC_CLONE = 0x8004e500L;

    private static final int WRITE_HEADERS_BYTES = IN_HEADER_BYTES + WRITE_IN_BYTES;

    /** Size of {@code fuse_out_header} and {@code fuse_notify_inval_inode_out}, in bytes. */
    static final int NOTIFY_BYTES = OUT_HEADER_BYTES + 24;

    private static final int FUSE_NOTIFY_INVAL_INODE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(Channel.class);

    /**
     * Native memory of one channel, in bytes: a request and a reply of the largest size, each with one page for
     * alignment.
     */
    static final long BUFFER_BYTES =
            WRITE_HEADERS_BYTES + MAX_IO_BYTES + PAGE_BYTES + OUT_HEADER_BYTES + MAX_IO_BYTES + PAGE_BYTES;

    private final Libc libc;
    private final int fd;
    private final ByteBuffer requestBuffer;
    private final ByteBuffer replyBuffer;
    private final ByteBuffer noteBuffer =
            ByteBuffer.allocateDirect(NOTIFY_BYTES).order(ByteOrder.nativeOrder());
    private final long requestAddress;
    private final long replyAddress;
    private final long noteAddress;
    private final LateAnswers lateAnswers;
    /** Lock: held while another thread uses the descriptor, and while the descriptor is closed. */
    private final Object lifetime = new Object();
    /** Header of an EINTR answer that a thread other than the worker writes. */
    private final ByteBuffer interruptedAnswer =
            ByteBuffer.allocateDirect(OUT_HEADER_BYTES).order(ByteOrder.nativeOrder());

    private final long interruptedAddress;
    /** Header of an answer by {@link #answer}. Guarded by {@link #lifetime}. */
    private final ByteBuffer lateAnswer =
            ByteBuffer.allocateDirect(OUT_HEADER_BYTES).order(ByteOrder.nativeOrder());

    private final ServedRequest served = new ServedRequest(this::answerInterrupted);

    private boolean closed;

    /** Makes the first channel of a mount. */
    Channel(Libc libc, int fd) {
        this(libc, fd, new LateAnswers(libc));
    }

    private Channel(Libc libc, int fd, LateAnswers lateAnswers) {
        this.libc = libc;
        this.fd = fd;
        this.lateAnswers = lateAnswers;
        this.requestBuffer = withAlignedData(WRITE_HEADERS_BYTES);
        this.replyBuffer = withAlignedData(OUT_HEADER_BYTES);
        this.requestAddress = libc.address(requestBuffer);
        this.replyAddress = libc.address(replyBuffer);
        this.noteAddress = libc.address(noteBuffer);
        this.interruptedAddress = libc.address(interruptedAnswer);
    }

    /** Allocates a buffer for the headers and the largest data. The data begins on a page boundary. */
    private static ByteBuffer withAlignedData(int headerBytes) {
        ByteBuffer memory = ByteBuffer.allocateDirect(headerBytes + MAX_IO_BYTES + PAGE_BYTES);
        int misalignment = memory.alignmentOffset(headerBytes, PAGE_BYTES);
        int start = (PAGE_BYTES - misalignment) % PAGE_BYTES;
        return memory.slice(start, headerBytes + MAX_IO_BYTES);
    }

    /** Opens another channel of the same mount. */
    Channel cloned() throws IOException {
        int clone = libc.functions().open(KernelBinding.DEVICE, Libc.O_RDWR | Libc.O_CLOEXEC);
        if (clone < 0) {
            throw libc.failure("opening " + KernelBinding.DEVICE);
        }
        ByteBuffer argument = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
        argument.putInt(0, fd);
        if (libc.functions().ioctl(clone, FUSE_DEV_IOC_CLONE, libc.address(argument)) != 0) {
            IOException failure = libc.failure("cloning a FUSE channel");
            libc.functions().close(clone);
            throw failure;
        }
        return new Channel(libc, clone, lateAnswers);
    }

    ByteBuffer requestBuffer() {
        return requestBuffer;
    }

    ByteBuffer replyBuffer() {
        return replyBuffer;
    }

    /**
     * Waits for a request.
     *
     * @return length of the request in the request buffer, in bytes; or {@link #UNMOUNTED} or {@link #ABORTED}
     */
    int receive() throws IOException {
        while (true) {
            long length = libc.functions().read(fd, requestAddress, requestBuffer.capacity());
            if (length > 0) {
                return (int) length;
            }
            int errno = length == 0 ? Errno.ENODEV : libc.errno();
            switch (errno) {
                case Errno.ENODEV -> {
                    return UNMOUNTED;
                }
                case Errno.ECONNABORTED -> {
                    return ABORTED;
                }
                case Errno.EINTR, Errno.EAGAIN, Errno.ENOENT -> {
                    // EINTR: a signal. EAGAIN: no request after all. ENOENT: the request was withdrawn before it was
                    // read.
                }
                default -> throw libc.failure("reading a FUSE request");
            }
        }
    }

    /**
     * Sends the first {@code length} bytes of the reply buffer.
     *
     * @return false if the kernel did not accept the reply
     */
    boolean send(int length) {
        while (libc.functions().write(fd, replyAddress, length) != length) {
            int errno = libc.errno();
            if (errno == Errno.EINTR) {
                continue;
            }
            // ENOENT: the calling program was killed. The others: unmounted meanwhile.
            if (errno != Errno.ENOENT && errno != Errno.ENODEV && errno != Errno.ECONNABORTED && errno != Errno.EPERM) {
                LOG.error(
                        "the kernel refused a reply of {} bytes: {}",
                        length,
                        libc.functions().strerror(errno));
            }
            return false;
        }
        return true;
    }

    /** Returns the request that the worker of this channel serves. */
    ServedRequest served() {
        return served;
    }

    /**
     * Answers a request with EINTR. {@link ServedRequest} ensures that one thread at a time calls this, and that the
     * channel is open.
     */
    private void answerInterrupted(long unique) {
        interruptedAnswer.putInt(0, OUT_HEADER_BYTES).putInt(4, -Errno.EINTR).putLong(8, unique);
        if (libc.functions().write(fd, interruptedAddress, OUT_HEADER_BYTES) != OUT_HEADER_BYTES) {
            // Unmounted or aborted: no program waits for the answer.
            LOG.debug("the kernel did not take EINTR: {}", libc.functions().strerror(libc.errno()));
        }
    }

    /**
     * Sends a notification. Its unique number is 0; the field that holds the error in a reply holds the kind of the
     * notification.
     */
    @Override
    public void invalidate(long inode) {
        putInvalidation(noteBuffer, inode, -1);
        boolean sent = libc.functions().write(fd, noteAddress, NOTIFY_BYTES) == NOTIFY_BYTES;
        // ENOENT: the kernel does not know the inode any more.
        if (!sent && libc.errno() != Errno.ENOENT) {
            LOG.warn(
                    "the kernel keeps old attributes of inode {}: {}",
                    inode,
                    libc.functions().strerror(libc.errno()));
        }
    }

    /**
     * Fills {@code fuse_notify_inval_inode_out}.
     *
     * @param from file offset in bytes from which the kernel drops pages too, up to the end of the file; it sends pages
     *     that it has not sent yet and then drops them. -1: no pages
     */
    static void putInvalidation(ByteBuffer note, long inode, long from) {
        note.putInt(0, NOTIFY_BYTES).putInt(4, FUSE_NOTIFY_INVAL_INODE).putLong(8, 0);
        note.putLong(16, inode).putLong(24, from).putLong(32, 0);
    }

    @Override
    public void answerAfterWriteBack(long inode, long from, long unique, LateAnswer answer) {
        lateAnswers.submit(this, inode, from, unique, answer);
    }

    /**
     * Answers a request that the worker left to other threads, by 0 or an error number. For threads other than the
     * worker.
     */
    void answer(long unique, int errno) {
        whileOpen(open -> {
            lateAnswer.putInt(0, OUT_HEADER_BYTES).putInt(4, -errno).putLong(8, unique);
            boolean sent = libc.functions().write(open, libc.address(lateAnswer), OUT_HEADER_BYTES) == OUT_HEADER_BYTES;
            // ENOENT: the calling program was killed meanwhile.
            if (!sent && libc.errno() != Errno.ENOENT) {
                LOG.warn("the kernel refused an answer: {}", libc.functions().strerror(libc.errno()));
            }
        });
    }

    /** An action of another thread with the descriptor. */
    @FunctionalInterface
    interface Use {
        void with(int fd);
    }

    /**
     * Runs {@code use} unless the channel is closed, and keeps the channel open meanwhile. For threads other than the
     * worker.
     */
    void whileOpen(Use use) {
        synchronized (lifetime) {
            if (!closed) {
                use.with(fd);
            }
        }
    }

    @Override
    public void close() {
        synchronized (lifetime) {
            closed = true;
            libc.functions().close(fd);
        }
    }
}
