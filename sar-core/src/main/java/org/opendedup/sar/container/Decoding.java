package org.opendedup.sar.container;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.common.ByteGauge;

/**
 * Decodes what one thread reads while that thread goes on reading, so that the disk does not wait for decompression. A few pieces
 * may be under way at a time, and a few MiB of what was read for them; the reader itself does what no worker has begun when it would
 * have to wait. For use by one thread.
 */
public final class Decoding implements AutoCloseable {
    /**
     * Decoding may lag behind reading for a while: the workers have other work, and a disk that waits has lost its time. Its memory is
     * bounded by the buffers; this is more than a container has pieces.
     */
    static final int MAX_UNDER_WAY = 256;

    /** Two of the largest requests: one is decoded while the disk is at the next. */
    static final long MAX_BUFFER_BYTES = 8 << 20;

    private final Executor workers;
    private final ByteGauge memory;
    private final ArrayDeque<FutureTask<?>> underWay = new ArrayDeque<>();
    /** Of the buffers that pieces under way have their bytes in. */
    private final AtomicLong bufferBytes = new AtomicLong();

    Decoding(Executor workers) {
        this(workers, new ByteGauge());
    }

    /** @param memory is told of the buffers */
    Decoding(Executor workers, ByteGauge memory) {
        this.workers = workers;
        this.memory = memory;
    }

    /** Waits until a container of the usual size can be read without waiting for those who take what is decoded. */
    public void awaitRoomForContainer() {
        while (underWay.size() > MAX_UNDER_WAY / 2 || !underWay.isEmpty() && bufferBytes.get() > MAX_BUFFER_BYTES / 2) {
            finish(underWay.remove());
        }
    }

    /** A buffer is going to be read into: waits until it may be there beside those under way. It must {@linkplain #noteFreed end}. */
    void awaitRoom(int bytes) {
        while (!underWay.isEmpty() && bufferBytes.get() + bytes > MAX_BUFFER_BYTES) {
            finish(underWay.remove());
        }
        bufferBytes.addAndGet(bytes);
        memory.add(bytes);
    }

    /** All of a buffer is decoded. Called by any thread. */
    void noteFreed(int bytes) {
        bufferBytes.addAndGet(-bytes);
        memory.add(-bytes);
    }

    /** Has a piece decoded, after the earlier ones where too many are under way. */
    void submit(Runnable piece) {
        while (underWay.size() >= MAX_UNDER_WAY) {
            finish(underWay.remove());
        }
        FutureTask<?> task = new FutureTask<>(piece, null);
        underWay.add(task);
        try {
            workers.execute(task);
        } catch (RejectedExecutionException closing) {
            task.run();
        }
    }

    /** Runs the task unless a worker has begun it, and waits for its end. */
    private static void finish(FutureTask<?> task) {
        task.run();
        try {
            Uninterruptibles.getUninterruptibly(task);
        } catch (ExecutionException e) {
            // Pieces throw nothing checked.
            Throwables.throwIfUnchecked(Objects.requireNonNull(e.getCause()));
            throw new AssertionError(e);
        }
    }

    /** Waits until all is decoded, also where a piece fails: nothing is under way any more when this returns or throws. */
    @Override
    public void close() {
        while (!underWay.isEmpty()) {
            try {
                finish(underWay.remove());
            } catch (RuntimeException | Error e) {
                close();
                throw e;
            }
        }
    }
}
