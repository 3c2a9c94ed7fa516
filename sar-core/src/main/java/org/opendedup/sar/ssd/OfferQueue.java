package org.opendedup.sar.ssd;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue of chunks offered to the SSD and not yet written: buffers that are filled one after the other, while the
 * writing thread works on the oldest. They are created when needed and released when empty, except one spare buffer, so
 * only a burst uses much memory. An offer never waits. Safe for use by many threads.
 */
final class OfferQueue {
    static final int BUFFER_BYTES = 2 << 20;
    /** Smallest number of buffers: one accepts offers while the other is written. */
    static final int LEAST_BUFFERS = 2;

    /** Heap bytes per chunk in a buffer: a place in each of its arrays, and up to three places in the map of ids. */
    private static final int HEAP_BYTES_PER_CHUNK = 25 + 3 * (Long.BYTES + Integer.BYTES);
    /** Heap bytes of a buffer; the writing thread's batch uses as many. */
    static final int BUFFER_HEAP_BYTES = BUFFER_BYTES + OfferBuffer.mostChunks(BUFFER_BYTES) * HEAP_BYTES_PER_CHUNK;

    private static final int WANTED = 1;
    private static final int WITHDRAWN = 2;

    private final int mostBuffers;

    // All guarded by this.
    /** Buffers that are full or being filled, the oldest first. */
    private final Deque<OfferBuffer> filled = new ArrayDeque<>();
    /** The buffer that the writing thread works on. */
    private @Nullable OfferBuffer writing;
    /** An empty buffer for reuse. */
    private @Nullable OfferBuffer spare;
    /** Chunks on their way: {@link #WANTED} or {@link #WITHDRAWN}. */
    private final LongIntHashMap ids = new LongIntHashMap();

    private long bytes;
    private boolean woken;
    private boolean closed;
    private boolean ended;

    /** Number of chunks on their way; read without the lock, so that most look-ups need no lock. */
    private volatile int onTheirWay;

    /** @param heapBytes heap bytes for this queue and the writing thread's batch together */
    OfferQueue(long heapBytes) {
        mostBuffers = (int) Math.max(LEAST_BUFFERS, Math.min(Integer.MAX_VALUE, heapBytes / BUFFER_HEAP_BYTES - 1));
    }

    /** Copies an offer into the queue. */
    synchronized OfferAnswer offer(
            long chunkId, int fingerprintPrefix, int count, int saving, int tag, byte[] data, int offset, int length) {
        if (closed) {
            return OfferAnswer.UNAVAILABLE;
        }
        if (ids.containsKey(chunkId)) {
            // It may have been withdrawn, and is wanted again.
            ids.put(chunkId, WANTED);
            return OfferAnswer.PRESENT;
        }
        OfferBuffer last = filled.peekLast();
        if (last == null || !last.add(chunkId, fingerprintPrefix, count, saving, tag, data, offset, length)) {
            OfferBuffer next = nextBuffer();
            if (next == null) {
                return OfferAnswer.QUEUE_FULL;
            }
            boolean added = next.add(chunkId, fingerprintPrefix, count, saving, tag, data, offset, length);
            assert added : length;
            filled.addLast(next);
        }
        ids.put(chunkId, WANTED);
        bytes += length;
        onTheirWay = ids.size();
        notifyAll();
        return OfferAnswer.TAKEN;
    }

    private @Nullable OfferBuffer nextBuffer() {
        if (buffers() == mostBuffers) {
            return null;
        }
        OfferBuffer next = spare;
        spare = null;
        return next == null ? new OfferBuffer(BUFFER_BYTES) : next;
    }

    private int buffers() {
        return filled.size() + (writing == null ? 0 : 1);
    }

    /** Returns whether the chunk is on its way and was not withdrawn. */
    boolean contains(long chunkId) {
        if (onTheirWay == 0) {
            return false;
        }
        synchronized (this) {
            return ids.get(chunkId) == WANTED;
        }
    }

    /**
     * Withdraws a chunk, so that it is dropped once written; returns false if it is not on its way, or was withdrawn.
     */
    boolean withdraw(long chunkId) {
        if (onTheirWay == 0) {
            return false;
        }
        synchronized (this) {
            boolean wanted = ids.get(chunkId) == WANTED;
            if (wanted) {
                ids.put(chunkId, WITHDRAWN);
            }
            return wanted;
        }
    }

    /** Returns whether half of the room is free. */
    synchronized boolean hasRoom() {
        return !closed && buffers() <= mostBuffers / 2;
    }

    /** Returns the bytes of the chunks on their way. */
    synchronized long bytes() {
        return bytes;
    }

    /** Returns the number of chunks on their way. */
    int chunks() {
        return onTheirWay;
    }

    /**
     * Waits for offers until the timeout, a wake-up or the closing; removes the oldest buffer, for the writing thread.
     * A call of {@link #done} must follow.
     *
     * @return the buffer; an empty one if there are no offers
     */
    synchronized OfferBuffer take(long timeoutMillis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        while (filled.isEmpty() && !woken && !closed) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        woken = false;
        OfferBuffer taken = filled.pollFirst();
        if (taken == null) {
            taken = spare == null ? new OfferBuffer(BUFFER_BYTES) : spare;
            spare = null;
        }
        writing = taken;
        return taken;
    }

    /**
     * Notes that the chunks of the removed buffer were written or dropped.
     *
     * @param unwanted receives each chunk that was withdrawn meanwhile; must not wait
     */
    synchronized void done(LongConsumer unwanted) {
        OfferBuffer written = writing;
        if (written == null) {
            return;
        }
        for (int i = 0; i < written.count(); i++) {
            long chunkId = written.chunkId(i);
            if (ids.get(chunkId) == WITHDRAWN) {
                unwanted.accept(chunkId);
            }
            ids.remove(chunkId);
        }
        bytes -= written.bytes();
        written.clear();
        writing = null;
        spare = written;
        onTheirWay = ids.size();
        notifyAll();
    }

    /** Makes {@link #take} return. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Waits until the writing thread has finished all earlier offers and wake-ups, or has ended. */
    synchronized void awaitEmpty() throws InterruptedException {
        while (!ended && (buffers() > 0 || woken)) {
            wait();
        }
    }

    /** Closes the queue: it accepts no more offers. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Notes that the writing thread has ended. */
    synchronized void end() {
        closed = true;
        ended = true;
        notifyAll();
    }

    /** Returns whether the queue is closed and all its buffers were removed. */
    synchronized boolean isFinished() {
        return closed && filled.isEmpty();
    }
}
