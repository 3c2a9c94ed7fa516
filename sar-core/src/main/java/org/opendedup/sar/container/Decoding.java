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
 * Decodes frames in worker threads while one thread continues reading, so that the disk does not wait for
 * decompression. Bounds the number of pieces in progress and the bytes of their buffers. When the reader would have to
 * wait for a piece that no worker has begun, the reader decodes it. For use by one thread.
 */
public final class Decoding implements AutoCloseable {
    /**
     * Bound on pieces in progress. Decoding may be slower than reading for a while, because the workers have other work
     * and an idle disk loses time. The buffers bound the memory; this bound exceeds the number of pieces of a
     * container.
     */
    static final int MAX_UNDER_WAY = 256;

    /** Bound on buffers, in bytes: two of the largest requests, one being decoded while the disk reads the next. */
    static final long MAX_BUFFER_BYTES = 8 << 20;

    private final Executor workers;
    private final ByteGauge memory;
    private final ArrayDeque<FutureTask<?>> underWay = new ArrayDeque<>();
    /** Total size of the buffers of pieces in progress, in bytes. */
    private final AtomicLong bufferBytes = new AtomicLong();

    Decoding(Executor workers) {
        this(workers, new ByteGauge());
    }

    /** @param memory counts the bytes of the buffers */
    Decoding(Executor workers, ByteGauge memory) {
        this.workers = workers;
        this.memory = memory;
    }

    /** Waits until a container of the usual size can be read without waiting for the consumers of decoded frames. */
    public void awaitRoomForContainer() {
        while (underWay.size() > MAX_UNDER_WAY / 2 || !underWay.isEmpty() && bufferBytes.get() > MAX_BUFFER_BYTES / 2) {
            finish(underWay.remove());
        }
    }

    /**
     * Reserves a buffer of {@code bytes} bytes: waits until the bytes in use plus these are within the bound. The
     * caller must {@linkplain #noteFreed release} it.
     */
    void awaitRoom(int bytes) {
        while (!underWay.isEmpty() && bufferBytes.get() + bytes > MAX_BUFFER_BYTES) {
            finish(underWay.remove());
        }
        bufferBytes.addAndGet(bytes);
        memory.add(bytes);
    }

    /** Releases a buffer of {@code bytes} bytes once all of it is decoded. May be called by any thread. */
    void noteFreed(int bytes) {
        bufferBytes.addAndGet(-bytes);
        memory.add(-bytes);
    }

    /** Submits a piece for decoding; first finishes earlier pieces if too many are in progress. */
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

    /** Runs the task unless a worker has begun it, and waits until it ends. */
    private static void finish(FutureTask<?> task) {
        task.run();
        try {
            Uninterruptibles.getUninterruptibly(task);
        } catch (ExecutionException e) {
            // Pieces throw no checked exception.
            Throwables.throwIfUnchecked(Objects.requireNonNull(e.getCause()));
            throw new AssertionError(e);
        }
    }

    /** Waits until all pieces are decoded, even if one fails: nothing is in progress when this returns or throws. */
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
