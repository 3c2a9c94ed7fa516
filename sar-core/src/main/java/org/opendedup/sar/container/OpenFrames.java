package org.opendedup.sar.container;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Directory;

/**
 * All frames of an open container: those in its file ({@link WrittenFrames}), then those on their way to it
 * ({@link FrameQueue}); and whether they can be written ({@link WriteState}). Frame numbers and slots continue from the
 * former to the latter.
 *
 * <p>One lock guards all of it. Each method takes the lock for itself, and holds it briefly: for no disk access, no
 * compression and no call of a worker. This class never takes the lock of the {@link Pack}, whose holder may thus call
 * any method but three: {@link #append} and {@link #frameInMemory}, which have a frame compressed once they released
 * the lock, and {@link #awaitWritten}, which waits for the holder of the pack's lock. Methods whose Javadoc requires
 * the pack's lock change what only the thread that writes the file may change.
 */
final class OpenFrames {
    private final ContainerWriting writing;
    private final FrameEncoder encoder;
    private final Consumer<PendingFrame> compression;

    private final ReentrantLock lock = new ReentrantLock();
    /** Signalled if a frame left the queue, or the state of writing changed. */
    private final Condition changed = lock.newCondition();
    // All fields below, and what they refer to, are guarded by lock.
    private final WrittenFrames written;
    private final FrameQueue queue;
    private final WriteState state;
    /** Whether the whole container is durable. */
    private boolean sealed;

    /**
     * Makes the frames of an empty container.
     *
     * @param compression gets each frame that was cut, in the thread that cut it, without the lock: has the frame
     *     compressed, and calls {@link #compressed}
     */
    OpenFrames(ContainerWriting writing, FrameEncoder encoder, Consumer<PendingFrame> compression) {
        this.writing = writing;
        this.encoder = encoder;
        this.compression = compression;
        written = new WrittenFrames(writing);
        queue = new FrameQueue(encoder);
        state = new WriteState(toString(), encoder.budget());
    }

    /**
     * Copies a chunk into the frame being filled and returns its slot. Cuts that frame before, if the chunk does not
     * fit, and after, if it is full.
     *
     * @throws IOException if the container failed, or its disk is full
     */
    int append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset) throws IOException {
        PendingFrame before = null;
        PendingFrame after = null;
        int slot;
        lock.lock();
        try {
            state.throwIfFailed();
            state.throwIfShort();
            if (queue.mustCutBefore(length)) {
                before = cut();
            }
            slot = queue.add(data, offset, length, fingerprints, fingerprintOffset);
            if (queue.mustCut()) {
                after = cut();
            }
        } finally {
            lock.unlock();
        }
        compress(before);
        compress(after);
        return slot;
    }

    /** Ends the frame being filled; returns it for the caller to have it compressed, or null if there is none. */
    @Nullable
    PendingFrame flush() {
        return locked(() -> cut());
    }

    /** Moves the frame being filled to the queue. The caller holds the lock, and compresses the frame without it. */
    private @Nullable PendingFrame cut() {
        return state.isDropping() ? null : queue.cut();
    }

    private void compress(@Nullable PendingFrame frame) {
        if (frame != null) {
            compression.accept(frame);
        }
    }

    /**
     * Notes the compressed form of a frame. With null, the frame is dropped when it is the head; the caller has failed
     * the container.
     */
    void compressed(PendingFrame pending, @Nullable Bytes encoded) {
        underLock(() -> {
            pending.encoded = encoded;
            pending.ready = true;
        });
    }

    /** Returns whether the head of the queue can be written, or dropped. */
    boolean headIsReady() {
        return locked(() -> {
            PendingFrame head = queue.head();
            return head != null && head.ready && !state.isShort() && !state.isSuspended();
        });
    }

    /**
     * Returns the compressed form of the head of the queue; null if the head is not to be written: the container
     * failed, or the frame could not be compressed. The caller holds the pack's lock, and the head is ready.
     */
    @Nullable
    Bytes headToWrite() {
        return locked(() -> {
            PendingFrame head = queue.head();
            return head == null || state.isFailed() ? null : head.encoded;
        });
    }

    /**
     * Removes the head from the queue, and adds it to the frames of the file if it was written. Leaves it in the queue
     * if the disk failed meanwhile: only what is in the queue or among the frames of the file is in the rewritten file.
     * The caller holds the pack's lock.
     *
     * @param offset its offset in the file in bytes, or -1 if it was not written
     */
    void removeHead(long offset) {
        PendingFrame head;
        lock.lock();
        try {
            if (state.isSuspended()) {
                return;
            }
            head = queue.removeHead();
            Bytes encoded = head.encoded;
            if (offset >= 0 && encoded != null && !state.isFailed()) {
                written.add(head.raw, encoded, offset);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (head.encoded != null) {
            encoder.giveBack(head.encoded);
        }
        encoder.release(head.raw, head.admittedBytes);
    }

    /**
     * Waits until every frame in the queue at the time of the call is in the file, or the disk is full, or the
     * container failed. The latter two are recorded, not thrown: see {@link #throwIfShort} and {@link #reportLoss}.
     */
    void awaitWritten() {
        underLock(() -> {
            int wanted = written.count() + queue.size();
            while (state.isWorking() && written.count() < wanted) {
                changed.awaitUninterruptibly();
            }
        });
    }

    /**
     * Fails the container permanently and drops what cannot be stored any more: the frame being filled at once, queued
     * frames as {@link OpenContainer#writeNext} takes them.
     *
     * @param keepWritten whether the frames that are in the file and not forced yet can still be relied on
     */
    void fail(IOException cause, boolean keepWritten) {
        underLock(() -> {
            state.lose(cause);
            if (!keepWritten) {
                state.beginDoubt(written.count());
            }
            dropLost();
        });
    }

    /** As {@link #fail}, but drops nothing: the disk may work again. */
    void diskFailed(IOException cause, boolean keepWritten) {
        underLock(() -> {
            if (sealed) {
                return;
            }
            if (state.suspend(cause)) {
                changed.signalAll();
            }
            if (!keepWritten) {
                state.beginDoubt(written.count());
                if (!state.isSuspended()) {
                    dropLost();
                }
            }
        });
    }

    /** Drops what cannot be stored any more, but the queued frames. The caller holds the lock. */
    private void dropLost() {
        state.dropSuspended();
        written.truncate(certainFrames());
        queue.dropFilling();
        changed.signalAll();
    }

    private void underLock(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> reading) {
        lock.lock();
        try {
            return reading.get();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #reliableFrames}. The caller holds the lock. */
    private int certainFrames() {
        return state.certainFrames(written.count());
    }

    /** Records that the disk is full; see {@link WriteState#beginShortage}. */
    void beginShortage(NoSpaceException cause) {
        underLock(() -> {
            if (state.beginShortage(cause)) {
                changed.signalAll();
            }
        });
    }

    /** Has the writes retried that the disk had no space for. */
    void endShortage() {
        underLock(state::endShortage);
    }

    /** Returns whether frames, or the directory, wait for space. */
    boolean isShort() {
        return locked(state::isShort);
    }

    /** Returns how to write what is in the file to another place; null if the container does not wait for space. */
    @Nullable
    Rewriting moving(Directory directory, @Nullable PackPlace place) {
        return locked(
                () -> state.isShort() ? new Rewriting(directory, writing, place, written.table(), state.kept()) : null);
    }

    /**
     * Notes that the file was written to another place with {@code frames} frames, all durable, and that the next ones
     * can be written there. The caller holds the pack's lock.
     */
    void moved(int frames) {
        underLock(() -> {
            state.endShortage();
            state.noteDurable(frames);
        });
    }

    /**
     * Prepares the rewriting of the file. Returns null if there is nothing to rewrite, because the container did not
     * fail, or lost nothing.
     *
     * @throws CorruptionException if chunks were dropped
     */
    @Nullable
    Rewriting rewriting(Directory directory, @Nullable PackPlace place) throws CorruptionException {
        lock.lock();
        try {
            if (state.isSuspended()) {
                return new Rewriting(directory, writing, place, written.table(), state.kept());
            }
            throwIfDropped();
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Throws if chunks were dropped that the caller has not given up. The caller holds the lock. */
    private void throwIfDropped() throws CorruptionException {
        IOException failure = state.failure();
        if (failure != null && hasLoss()) {
            throw new CorruptionException(
                    toString(), -1, "all chunks that were taken", "some were dropped: " + failure.getMessage());
        }
    }

    /**
     * Notes that the file was rewritten with {@code frames} frames, all durable. The caller holds the pack's lock.
     *
     * @throws CorruptionException if chunks were dropped meanwhile, because a frame could not be compressed: the
     *     container stays failed
     */
    void revived(int frames) throws CorruptionException {
        lock.lock();
        try {
            if (state.isSuspended()) {
                state.revived(frames);
                changed.signalAll();
            } else {
                throwIfDropped();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Notes that the whole container is durable: from now on the disk cannot fail it. Does nothing if it has failed.
     */
    void seal() {
        underLock(() -> sealed |= !state.isFailed());
    }

    /** Returns whether the whole container is durable, so that the disk cannot fail it any more. */
    boolean isSealed() {
        return locked(() -> sealed);
    }

    /** See {@link WriteState#keep}. */
    boolean keep(Map<Integer, byte[]> copies) {
        return locked(() -> state.keep(copies));
    }

    /** Returns the number of frames in the file, from the first on, that can be relied on. */
    int reliableFrames() {
        return locked(() -> certainFrames());
    }

    /** Notes that the first {@code forced} frames are durable, and the file's name too. */
    void nameIsDurable(int forced) {
        underLock(() -> state.noteDurable(Math.min(forced, certainFrames())));
    }

    /** Returns the number of frames, from the first on, that are durable, name of the file included. */
    int durableFrames() {
        return locked(() -> state.durableFrames());
    }

    /** Returns whether no chunk was appended. */
    boolean isEmpty() {
        return locked(() -> queue.nextSlot() == 0);
    }

    boolean isWorking() {
        return locked(() -> state.isWorking());
    }

    /** Returns whether all chunks are in frames, and all frames in the file. */
    boolean isAllWritten() {
        return locked(() -> state.isWorking() && isDrained() && written.count() > 0);
    }

    /** Returns whether all chunks are in frames that are certainly durable. */
    boolean isDurable() {
        return locked(() -> state.isWorking() && isDrained() && state.durableFrames() == written.count());
    }

    /** Returns whether the container failed permanently, and no frame is left that must be dropped. */
    boolean isDropped() {
        return locked(() -> state.isDropping() && isDrained());
    }

    /** Returns whether the queue is empty. The caller holds the lock. */
    private boolean isDrained() {
        return queue.isCut() && queue.size() == 0;
    }

    /** Returns directory and footer for a file of {@code position} bytes. The caller holds the pack's lock. */
    Bytes tail(byte[] tableBytes, long position) {
        return locked(() -> written.tail(tableBytes, position));
    }

    boolean isFailed() {
        return locked(() -> state.isFailed());
    }

    void throwIfFailed() throws IOException {
        lock.lock();
        try {
            state.throwIfFailed();
        } finally {
            lock.unlock();
        }
    }

    /** Throws if chunks, or the directory, wait for space on the disk; nothing is lost. */
    void throwIfShort() throws NoSpaceException {
        lock.lock();
        try {
            state.throwIfShort();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns why chunks of this container are lost, or why it must be written to another pack, for {@code force} to
     * report; null if neither is so, or the loss was abandoned.
     */
    @Nullable
    IOException reportLoss() {
        return locked(() -> hasLoss() || state.isSuspended() ? state.reportLoss() : null);
    }

    /** See {@link OpenContainer#abandonLost}. */
    void abandonLost() {
        underLock(() -> {
            if (state.abandonLoss() && state.isSuspended()) {
                dropLost();
            }
        });
    }

    /** Returns the number of slots that were assigned and whose chunks are not lost, in frames written or waiting. */
    int slots() {
        return locked(() -> state.isFailed() ? firstLostSlot() : queue.nextSlot());
    }

    /** Returns whether a slot was assigned and its chunk can no longer be stored. */
    boolean isLost(int slot) {
        return locked(() -> state.isFailed() && slot >= firstLostSlot() && slot < queue.nextSlot());
    }

    /** Returns whether chunks are lost that the caller has not given up. The caller holds the lock. */
    private boolean hasLoss() {
        return state.isFailed() && !state.isLossAbandoned() && firstLostSlot() < queue.nextSlot();
    }

    /** Returns the first slot that is lost if the container failed. The caller holds the lock. */
    private int firstLostSlot() {
        return written.slots(certainFrames());
    }

    /** Returns the frame table of the frames in the file. */
    FrameTable table() {
        return locked(() -> written.table());
    }

    /** Returns the number of the frame that holds a slot, in the file or not yet; -1 if the slot was not assigned. */
    int frameOf(int slot) throws IOException {
        lock.lock();
        try {
            if (slot < written.slots()) {
                return written.frameOf(slot);
            }
            if (slot >= queue.nextSlot()) {
                return -1;
            }
            state.throwIfDropping();
            return written.count() + queue.placeOf(slot);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns a frame from memory, or null if it is in the file. Ends the frame if it is still being filled: a frame
     * that a reader has seen must not change.
     */
    @Nullable
    Frame frameInMemory(int frame) throws IOException {
        PendingFrame ended = null;
        lock.lock();
        try {
            int place = frame - written.count();
            if (place < 0) {
                return null;
            }
            state.throwIfDropping();
            if (place == queue.size()) {
                ended = cut();
            }
            return queue.copy(place, container());
        } finally {
            lock.unlock();
            compress(ended);
        }
    }

    /**
     * Returns whether the container has reached either limit, in bytes or in slots. Counts frames not written yet with
     * their estimated compressed size.
     */
    boolean isFull(int containerBytes, int maxChunks) {
        return locked(() -> queue.nextSlot() >= maxChunks
                || written.fileBytes() + encoder.estimateStored(queue.bytes()) >= containerBytes);
    }

    /** Returns the length of the header and frames in the file, in bytes. */
    long fileBytes() {
        return locked(() -> written.fileBytes());
    }

    private long container() {
        return writing.identity().container();
    }

    @Override
    public String toString() {
        return "container " + container();
    }
}
