package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool of buffers outside the heap, through which bytes of the heap are written to files and read from them. The
 * number of buffers is bounded; each is used for one system call at a time. A thread that finds none free waits for the
 * next. The JDK instead keeps a buffer for each thread permanently, and fails where there is no room for one more. Safe
 * for use by many threads.
 */
public final class TransferBuffers {
    /** Bytes transferred by one system call. */
    public static final int BUFFER_BYTES = 256 << 10;

    private static final Logger log = LoggerFactory.getLogger(TransferBuffers.class);

    private final IntFunction<ByteBuffer> maker;

    /**
     * Free buffers, the most recently used first: its memory is in the CPU caches. Guarded by this, as are all fields
     * below.
     */
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    private int most;
    private int made;

    /** @param most maximum number of buffers; each is made when it is first needed */
    public TransferBuffers(int most) {
        this(most, ByteBuffer::allocateDirect);
    }

    /**
     * @param most maximum number of buffers
     * @param maker makes a buffer of the given number of bytes, or throws an OutOfMemoryError
     */
    TransferBuffers(int most, IntFunction<ByteBuffer> maker) {
        if (most < 1) {
            throw new IllegalArgumentException("1 buffer or more is needed, not " + most);
        }
        this.most = most;
        this.maker = maker;
    }

    /**
     * Reads at most {@value #BUFFER_BYTES} bytes from a position of a file; returns their number, or -1 at its end.
     *
     * @param target buffer with room for at least one byte
     */
    int read(FileChannel channel, ByteBuffer target, long position) throws IOException {
        int bytes = Math.min(target.remaining(), BUFFER_BYTES);
        if (target.isDirect()) {
            int read = channel.read(target.slice(target.position(), bytes), position);
            target.position(target.position() + Math.max(0, read));
            return read;
        }
        ByteBuffer buffer = take();
        try {
            int read = channel.read(buffer.clear().limit(bytes), position);
            target.put(buffer.flip());
            return read;
        } finally {
            giveBack(buffer);
        }
    }

    /** Writes at most {@value #BUFFER_BYTES} bytes to a position of a file; returns their number. */
    int write(FileChannel channel, ByteBuffer source, long position) throws IOException {
        int bytes = Math.min(source.remaining(), BUFFER_BYTES);
        ByteBuffer piece = source.slice(source.position(), bytes);
        int written = source.isDirect() ? channel.write(piece, position) : writeThrough(channel, piece, position);
        source.position(source.position() + written);
        return written;
    }

    private int writeThrough(FileChannel channel, ByteBuffer piece, long position) throws IOException {
        ByteBuffer buffer = take();
        try {
            return channel.write(buffer.clear().put(piece).flip(), position);
        } finally {
            giveBack(buffer);
        }
    }

    private ByteBuffer take() {
        while (true) {
            ByteBuffer buffer = awaitFree();
            if (buffer != null) {
                return buffer;
            }
            try {
                return maker.apply(BUFFER_BYTES);
            } catch (OutOfMemoryError e) {
                makeDoWithout(e);
            }
        }
    }

    /**
     * Waits for a free buffer and returns it; null if the caller is to make one. An interrupt does not end the wait;
     * the thread's interrupt flag is set again afterwards.
     */
    private synchronized @Nullable ByteBuffer awaitFree() {
        Threads.await(this, () -> !free.isEmpty() || made < most);
        if (free.isEmpty()) {
            made++;
        }
        return free.poll();
    }

    /**
     * Lowers the maximum to the number of buffers made, because there is no memory for one more. Throws the failure if
     * there is none at all.
     */
    private synchronized void makeDoWithout(OutOfMemoryError failure) {
        made--;
        if (made == 0) {
            notifyAll();
            throw failure;
        }
        if (most > made) {
            most = made;
            log.warn("files are read and written through {} buffers only: {}", made, failure.getMessage());
        }
    }

    private synchronized void giveBack(ByteBuffer buffer) {
        free.push(buffer);
        notify();
    }
}
