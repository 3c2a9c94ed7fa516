package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory of all files' written bytes that are not stored yet, and keeps buffers for reuse. A writer that
 * meets the limit waits until bytes are stored.
 */
public final class DirtyBudget {
    /** Size of the buffers that are kept for reuse, in bytes. */
    static final int BUFFER_BYTES = 256 << 10;

    private final long limitBytes;
    /** Buffers that are kept for reuse, within the same limit as those in use. Guarded by this, as is the next. */
    private final ArrayDeque<byte[]> buffers = new ArrayDeque<>();

    private long usedBytes;

    public DirtyBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    public long limitBytes() {
        return limitBytes;
    }

    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Returns the bytes of the buffers that are kept for reuse. */
    synchronized long keptBytes() {
        return (long) buffers.size() * BUFFER_BYTES;
    }

    /**
     * Returns a buffer of at least {@code bytes} and at most {@link #BUFFER_BYTES} bytes. It counts as used until
     * {@link #release}.
     */
    byte[] buffer(int bytes) {
        byte[] kept = bytes > BUFFER_BYTES / 2 ? poll() : null;
        byte[] result = kept == null ? new byte[lengthFor(bytes)] : kept;
        synchronized (this) {
            usedBytes += result.length;
            while (usedBytes + keptBytes() > limitBytes && !buffers.isEmpty()) {
                buffers.poll();
            }
        }
        return result;
    }

    private static int lengthFor(int bytes) {
        return bytes > BUFFER_BYTES / 2 ? BUFFER_BYTES : Math.max(512, Integer.highestOneBit(2 * bytes - 1));
    }

    private synchronized byte @Nullable [] poll() {
        return buffers.poll();
    }

    /** Releases a buffer; the caller must not use it any more. */
    synchronized void release(byte[] buffer) {
        usedBytes -= buffer.length;
        if (buffer.length == BUFFER_BYTES && usedBytes + keptBytes() + BUFFER_BYTES <= limitBytes) {
            buffers.push(buffer);
        }
        notifyAll();
    }

    /** Releases a buffer that a call which did not end in time may still read: nothing else is to be written to it. */
    synchronized void forsake(byte[] buffer) {
        usedBytes -= buffer.length;
        notifyAll();
    }

    /** Starts storing some bytes, or throws the reason why nothing can be stored. */
    @FunctionalInterface
    public interface Urge {
        void storeSome() throws IOException;
    }

    /** Waits until there is room. Calls {@code urge} before each wait. */
    public void awaitRoom(@Nullable Urge urge) throws IOException {
        while (true) {
            synchronized (this) {
                if (usedBytes < limitBytes) {
                    return;
                }
            }
            if (urge != null) {
                urge.storeSome();
            }
            synchronized (this) {
                if (usedBytes >= limitBytes) {
                    await();
                }
            }
        }
    }

    private void await() throws IOException {
        try {
            TimeUnit.MILLISECONDS.timedWait(this, 100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for data to be stored");
        }
    }
}
