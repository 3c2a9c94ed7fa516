package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.IN_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.WRITE_IN_BYTES;

import java.io.Closeable;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Collection;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One descriptor of the FUSE device, with one buffer for requests and one for replies. A reply must be written to the
 * descriptor that its request was read from. For one thread, except {@link #served}, the methods marked for other
 * threads, and those of {@link KernelCache}. Owns the descriptor.
 */
final class Channel implements KernelCache, LateSyncs.Answers, Closeable {
    /** Result of {@link #receive}: the file system is unmounted. */
    static final int UNMOUNTED = -1;
    /** Result of {@link #receive}: the connection was aborted, and the mount point still exists. */
    static final int ABORTED = -2;

    /** {@code _IOR(229, 0, uint32_t)}: connects a descriptor of the device to a mount, as another channel. */
    private static final long FUSE_DEV_IOC_CLONE = 0x8004e500L;

    private static final int WRITE_HEADERS_BYTES = IN_HEADER_BYTES + WRITE_IN_BYTES;

    private static final Logger LOG = LoggerFactory.getLogger(Channel.class);

    /**
     * Native memory of one channel, in bytes: a request and a reply of the largest size, each with one page for
     * alignment.
     */
    static final long BUFFER_BYTES =
            WRITE_HEADERS_BYTES + MAX_IO_BYTES + PAGE_BYTES + OUT_HEADER_BYTES + MAX_IO_BYTES + PAGE_BYTES;

    /** {@code struct pollfd}: 4 bytes of descriptor, 2 of events, 2 of what happened. */
    private static final int POLLFD_BYTES = 8;

    private static final int REVENTS = 6;
    private static final int POLLERR = 8;

    private final Libc libc;
    private final SharedDescriptor device;
    private final ByteBuffer requestBuffer;
    private final ByteBuffer replyBuffer;
    private final long requestAddress;
    private final long replyAddress;
    private final Invalidation invalidation;
    private final LateAnswers lateAnswers;
    private final ServedRequest served = new ServedRequest(unique -> answer(unique, Errno.EINTR));

    /** Makes the first channel of a mount. */
    Channel(Libc libc, int fd) {
        this(libc, fd, new LateAnswers(libc));
    }

    private Channel(Libc libc, int fd, LateAnswers lateAnswers) {
        this.libc = libc;
        this.device = new SharedDescriptor(libc, fd);
        this.lateAnswers = lateAnswers;
        this.requestBuffer = withAlignedData(WRITE_HEADERS_BYTES);
        this.replyBuffer = withAlignedData(OUT_HEADER_BYTES);
        this.requestAddress = Libc.address(requestBuffer);
        this.replyAddress = Libc.address(replyBuffer);
        this.invalidation = new Invalidation(libc);
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
        int clone = libc.open(Path.of(Protocol.DEVICE), Libc.O_RDWR);
        if (clone < 0) {
            throw libc.failure("opening " + Protocol.DEVICE);
        }
        ByteBuffer argument = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
        argument.putInt(0, device.number());
        if (libc.functions().ioctl(clone, FUSE_DEV_IOC_CLONE, Libc.address(argument)) != 0) {
            IOException failure = libc.failure("cloning a FUSE channel");
            libc.functions().close(clone);
            throw failure;
        }
        Reference.reachabilityFence(argument);
        return new Channel(libc, clone, lateAnswers);
    }

    /** Returns whether the kernel still has the connection. For other threads. */
    boolean isConnected() {
        boolean[] connected = new boolean[1];
        device.whileOpen(fd -> {
            ByteBuffer asked = ByteBuffer.allocate(POLLFD_BYTES).order(ByteOrder.nativeOrder());
            libc.functions().poll(asked.putInt(0, fd).array(), 1, 0);
            connected[0] = (asked.getShort(REVENTS) & POLLERR) == 0;
        });
        return connected[0];
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
            long length = libc.functions().read(device.number(), requestAddress, requestBuffer.capacity());
            if (length > 0) {
                return (int) length;
            }
            int errno = length == 0 ? Errno.ENODEV : Libc.errno();
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
        while (libc.functions().write(device.number(), replyAddress, length) != length) {
            int errno = Libc.errno();
            if (errno == Errno.EINTR) {
                continue;
            }
            if (!LateAnswers.isPointless(errno)) {
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

    @Override
    public void invalidate(long inode) {
        // One thread at a time, as the buffer of the note needs.
        device.whileOpen(fd -> {
            if (!invalidation.send(fd, inode, Invalidation.NO_PAGES)) {
                LOG.warn(
                        "the kernel keeps old attributes of inode {}: {}",
                        inode,
                        libc.functions().strerror(Libc.errno()));
            }
        });
    }

    /**
     * Makes the kernel ask for a name of a directory, and for its attributes, when it needs them next. For a thread
     * that serves no requests.
     *
     * @return false if nothing was sent, because the channel has ended or the process has no descriptor left
     */
    boolean forget(long directory, byte[] name) {
        return send((fd, note) -> {
            if (!note.sendName(fd, directory, name) || !note.send(fd, directory, Invalidation.NO_PAGES)) {
                LOG.warn(
                        "the kernel keeps what it knew of a name in inode {}: {}",
                        directory,
                        libc.functions().strerror(Libc.errno()));
            }
        });
    }

    /**
     * Makes the kernel drop the pages and attributes of inodes. It sends the pages that programs have written first,
     * and waits for the answers. For a thread that serves no requests.
     *
     * @return as {@link #forget}
     */
    boolean dropPages(Collection<Long> inodes) {
        return send((fd, note) -> {
            for (long inode : inodes) {
                if (!note.send(fd, inode, 0)) {
                    LOG.debug("the kernel keeps pages of inode {}", inode);
                }
            }
        });
    }

    private boolean send(Notes notes) {
        return device.withCopy(fd -> notes.send(fd, new Invalidation(libc)));
    }

    /** Sends notes to the kernel. */
    @FunctionalInterface
    private interface Notes {
        void send(int fd, Invalidation note);
    }

    @Override
    public void answerAfterWriteBack(Asker asker, long inode, long from, LateAnswer answer) {
        lateAnswers.submitAfterWriteBack(device, asker, inode, from, answer);
    }

    @Override
    public void answerInTurn(Asker asker, LateAnswer answer) {
        lateAnswers.submit(device, asker, answer);
    }

    @Override
    public void answerOrDropPages(Asker asker, long inode, long from, LateAnswer answer) {
        lateAnswers.submitOrDropPages(device, asker, inode, from, answer);
    }

    @Override
    public void replyInTurn(Asker asker, boolean takesMinutes, LateReply reply) {
        lateAnswers.submit(device, asker, takesMinutes, reply);
    }

    /**
     * Answers a request that the worker left to other threads, or that is abandoned, by 0 or an error number. For
     * threads other than the worker.
     */
    @Override
    public void answer(long unique, int errno) {
        lateAnswers.send(device, unique, errno == 0 ? LateAnswer.DONE : -errno);
    }

    /** Waits for the answers that other threads compute, of all channels of the mount. */
    void awaitLateAnswers() {
        lateAnswers.close();
    }

    @Override
    public void close() {
        device.close();
    }
}
