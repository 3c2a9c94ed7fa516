package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory outside the heap through which bytes of the heap go to files and come from them: a bounded number of buffers, each used for
 * one system call at a time. Who finds none free waits for the next. The JDK's own way is a buffer for each thread, for ever, and a
 * failure where there is no room for one more. Safe for use by many threads.
 */
public final class TransferBuffers {
    /** Bytes moved by one system call. */
    public static final int BUFFER_BYTES = 256 << 10;

    private static final Logger log = LoggerFactory.getLogger(TransferBuffers.class);

    private final IntFunction<ByteBuffer> maker;

    /** The one used last comes first: its memory is in the caches. Guarded by this, as is all below it. */
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    private int most;
    private int made;

    /** @param most buffers at a time; they are made when they are needed first */
    public TransferBuffers(int most) {
        this(most, ByteBuffer::allocateDirect);
    }

    /** @param maker makes a buffer of so many bytes, or throws an OutOfMemoryError */
    TransferBuffers(int most, IntFunction<ByteBuffer> maker) {
        if (most < 1) {
            throw new IllegalArgumentException("1 buffer or more is needed, not " + most);
        }
        this.most = most;
        this.maker = maker;
    }

    /**
     * Reads at most {@value #BUFFER_BYTES} bytes from a place of a file; returns how many, or -1 at its end.
     *
     * @param target with room for a byte at least
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

    /** Writes at most {@value #BUFFER_BYTES} bytes where the channel is; returns how many. */
    int write(FileChannel channel, ByteBuffer source) throws IOException {
        int bytes = Math.min(source.remaining(), BUFFER_BYTES);
        ByteBuffer piece = source.slice(source.position(), bytes);
        int written = source.isDirect() ? channel.write(piece) : writeThrough(channel, piece);
        source.position(source.position() + written);
        return written;
    }

    private int writeThrough(FileChannel channel, ByteBuffer piece) throws IOException {
        ByteBuffer buffer = take();
        try {
            return channel.write(buffer.clear().put(piece).flip());
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

    /** A buffer; null: the caller makes one. An interrupt is kept for the caller, and does not end the wait. */
    private synchronized @Nullable ByteBuffer awaitFree() {
        boolean interrupted = false;
        while (free.isEmpty() && made >= most) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (free.isEmpty()) {
            made++;
        }
        return free.poll();
    }

    /** There is no memory for one more: those that are there have to do. */
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
