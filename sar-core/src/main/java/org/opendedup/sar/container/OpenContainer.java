package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerFormat.Identity;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.RawFrame;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A container being written: a frame being filled, a queue of frames being compressed, and a file to which they are
 * written in order.
 *
 * <p>A chunk has its id once it is appended. When its frame is full, or flushed, a worker compresses it. The worker
 * that finds the head of the queue compressed writes it. Until then readers are served from the queue.
 *
 * <p>A failed write fails the container: it accepts no more chunks, frames not in the file count as lost, and frames in
 * the file can still be forced and read. A failed force also makes those frames doubtful that were written after the
 * last successful force, because the operating system may have dropped them. If the disk was the cause, all frames stay
 * in the file and in the queue, and can be read from there, until {@link #revive} rewrites the file or
 * {@link #abandonLost} gives them up. With any other cause, lost frames are dropped, and the file stays unsealed until
 * the next recovery.
 *
 * <p>A write that finds the disk full is not a failure: its frame and the later ones stay in the queue, and are written
 * when {@link #force} or {@link #seal} retries. Until then appends are refused.
 *
 * <p>Two locks: {@code writing} is held by the thread that uses the output. {@code lock} guards the rest and is held
 * briefly. A thread may acquire {@code lock} while it holds {@code writing}, never the other way round.
 */
final class OpenContainer {
    private static final Logger log = LoggerFactory.getLogger(OpenContainer.class);
    /**
     * Largest frame that {@link #flush} compresses in the calling thread, in bytes. Compressing it takes less time than
     * handing it to a worker and waiting to be woken, about 100 µs.
     */
    private static final int MAX_FLUSHED_HERE_BYTES = 16 << 10;

    private final Identity identity;
    private final Directory directory;
    private final FrameEncoder encoder;
    /** Guarded by {@code writing}; replaced only while {@code lock} is held as well. */
    private Output output;

    private final ReentrantLock writing = new ReentrantLock();
    /**
     * Number of frames of the output that are certainly on the disk; the file's name may not be durable yet. Guarded by
     * {@code writing}.
     */
    private int forcedFrames;
    /**
     * Whether directory and footer follow the frames, and all bytes are on the disk: only the final name is missing.
     * Guarded by {@code writing}.
     */
    private boolean complete;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // All fields below are guarded by lock.
    private int nextSlot;
    private @Nullable RawFrame filling;
    private final ArrayDeque<PendingFrame> queue = new ArrayDeque<>();
    private long queuedBytes;
    private final FrameTable.Builder written;
    private final Bytes chunkLists = new Bytes(1024);
    private long fileBytes;
    private int durableFrames;
    private boolean sealed;
    /** Whether the loss of chunks was reported to the caller, and whether the caller has given them up since. */
    private boolean lossReported;

    private boolean lossAbandoned;

    private @Nullable IOException failure;
    /** Whether the disk caused the failure: then nothing is dropped, and {@link #revive} may undo the failure. */
    private boolean revivable;
    /** Copies of frames whose force failed, by frame number: the system may drop them from the file's cached pages. */
    private Map<Integer, byte[]> kept = Map.of();
    /**
     * Whether a force failed: frames from {@link #durableFrames} on may not be on the disk, even if a later force
     * succeeds.
     */
    private boolean inDoubt;

    /** Set if the disk was full at the last attempt to write the head of the queue. */
    private @Nullable NoSpaceException shortage;

    private OpenContainer(Identity identity, Directory directory, FrameEncoder encoder, Output output) {
        this.identity = identity;
        this.written = new FrameTable.Builder(identity.writing());
        this.directory = directory;
        this.encoder = encoder;
        this.output = output;
        this.fileBytes = output.position();
    }

    /** Creates the file and writes its header. Deletes the file again if the header cannot be written. */
    static OpenContainer create(long container, long salt, Directory directory, FrameEncoder encoder)
            throws IOException {
        Identity identity = new Identity(container, salt, ContainerFormat.FIRST_GENERATION);
        String name = ContainerFormat.fileName(container, ContainerFormat.OPEN_SUFFIX);
        requireNotSealed(container, directory);
        Output output = directory.create(name);
        try {
            Bytes header = new Bytes(ContainerFormat.HEADER_BYTES);
            ContainerFormat.putHeader(identity, header);
            output.append(header.buffer());
            return new OpenContainer(identity, directory, encoder, output);
        } catch (IOException | RuntimeException | Error e) {
            try {
                output.close();
                directory.delete(name);
            } catch (IOException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    /** Throws if a sealed container with this id exists. It is never overwritten, even if the id was issued twice. */
    private static void requireNotSealed(long container, Directory directory) throws IOException {
        String sealed = ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX);
        if (directory.exists(sealed)) {
            throw new FileAlreadyExistsException(
                    directory + "/" + sealed, null, "a container of this id exists, and is not overwritten");
        }
    }

    long container() {
        return identity.container();
    }

    /** Copies a chunk into the frame being filled and returns the chunk's id. */
    long append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset) throws IOException {
        PendingFrame before = null;
        PendingFrame after = null;
        int slot;
        lock.lock();
        try {
            throwIfFailed();
            throwIfShort();
            if (filling != null && filling.bytes() + length > encoder.frameBytes()) {
                before = cut();
            }
            RawFrame frame = filling;
            if (frame == null) {
                frame = encoder.take(nextSlot);
                filling = frame;
            }
            frame.add(data, offset, length, fingerprints, fingerprintOffset);
            slot = nextSlot++;
            if (frame.bytes() >= encoder.frameBytes()) {
                after = cut();
            }
        } finally {
            lock.unlock();
        }
        submit(before);
        submit(after);
        return ChunkId.of(identity.container(), slot);
    }

    /**
     * Returns whether the container has reached either limit, in bytes or in slots. Counts frames not written yet with
     * their estimated compressed size.
     */
    boolean isFull(int containerBytes, int maxChunks) {
        lock.lock();
        try {
            long unwritten = queuedBytes + (filling == null ? 0 : filling.bytes());
            return nextSlot >= maxChunks || fileBytes + encoder.estimateStored(unwritten) >= containerBytes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the frame being filled, if any, and has it compressed and written: a small one in this thread, a larger one
     * by the workers.
     */
    void flush() {
        PendingFrame cut;
        lock.lock();
        try {
            cut = cut();
        } finally {
            lock.unlock();
        }
        if (cut != null && cut.raw.bytes() <= Math.min(MAX_FLUSHED_HERE_BYTES, encoder.frameBytes() / 4)) {
            encode(cut);
        } else {
            submit(cut);
        }
    }

    /** Moves the frame being filled to the queue. The caller holds {@code lock}. */
    private @Nullable PendingFrame cut() {
        RawFrame frame = filling;
        if (frame == null || failure != null && !revivable) {
            return null;
        }
        filling = null;
        PendingFrame pending = new PendingFrame(frame, encoder.admit(frame));
        queue.add(pending);
        queuedBytes += frame.bytes();
        return pending;
    }

    /**
     * Hands a frame to the workers. The caller must not hold {@code lock}: the workers may run the task at once, in
     * this thread.
     */
    private void submit(@Nullable PendingFrame pending) {
        if (pending == null) {
            return;
        }
        try {
            encoder.execute(() -> encode(pending));
        } catch (RejectedExecutionException e) {
            encodeFailed(pending, e);
        }
    }

    @SuppressWarnings("CatchingUnchecked") // a worker's failure must reach the threads that wait for the frame
    private void encode(PendingFrame pending) {
        try {
            Bytes encoded = encoder.encode(pending.raw, identity);
            lock.lock();
            try {
                pending.encoded = encoded;
                pending.ready = true;
            } finally {
                lock.unlock();
            }
        } catch (RuntimeException | Error e) {
            encodeFailed(pending, e);
            throw e;
        }
        drain();
    }

    private void encodeFailed(PendingFrame pending, Throwable cause) {
        fail(new IOException(this + ": a frame could not be compressed", cause), true);
        lock.lock();
        try {
            pending.ready = true;
        } finally {
            lock.unlock();
        }
        drain();
    }

    /**
     * Writes frames from the head of the queue while the head is ready. Does nothing if another thread is writing: that
     * thread writes them.
     */
    private void drain() {
        while (headIsReady() && writing.tryLock()) {
            try {
                while (headIsReady()) {
                    writeHead();
                }
            } finally {
                writing.unlock();
            }
        }
    }

    private boolean headIsReady() {
        lock.lock();
        try {
            PendingFrame head = queue.peek();
            return head != null && head.ready && shortage == null && !revivable;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes the head of the queue. Drops it if the container failed. Leaves it in the queue if the disk is full or
     * fails. The caller holds {@code writing}, and the head is ready.
     */
    private void writeHead() {
        PendingFrame head;
        boolean failed;
        lock.lock();
        try {
            head = queue.element();
            failed = failure != null;
        } finally {
            lock.unlock();
        }
        long offset = -1;
        Bytes encoded = head.encoded;
        if (!failed && encoded != null) {
            try {
                offset = output.append(encoded.buffer());
            } catch (NoSpaceException e) {
                beginShortage(e);
                return;
            } catch (IOException e) {
                diskFailed(e, true);
                return;
            } catch (RuntimeException | Error e) {
                // For example out of memory. The frame must leave the queue nevertheless: other threads wait for it.
                fail(new IOException(this + ": a frame could not be written: " + e, e), true);
            }
        }
        finish(head, offset);
    }

    /**
     * Removes the head from the queue. {@code offset} is its offset in the file in bytes, or -1 if it was not written.
     */
    private void finish(PendingFrame head, long offset) {
        Bytes encoded = head.encoded;
        lock.lock();
        try {
            queue.remove();
            queuedBytes -= head.raw.bytes();
            if (offset >= 0 && encoded != null && failure == null) {
                RawFrame raw = head.raw;
                int length = encoded.length();
                written.add(raw.firstSlot(), raw.count(), Math.toIntExact(offset), length, raw.bytes());
                chunkLists.putBytes(encoded.array(), FrameFormat.HEADER_BYTES, FrameFormat.listBytes(encoded.array()));
                fileBytes = offset + length;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (encoded != null) {
            encoder.giveBack(encoded);
        }
        encoder.release(head.raw, head.admittedBytes);
    }

    /**
     * Fails the container and drops what cannot be stored any more.
     *
     * @param keepWritten whether the frames that are in the file and not forced yet can still be relied on
     */
    private void fail(IOException cause, boolean keepWritten) {
        lock.lock();
        try {
            if (failure == null) {
                failure = cause;
            }
            if (!keepWritten) {
                beginDoubt();
            }
            dropLost();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #fail}, but drops nothing: the disk may work again. */
    private void diskFailed(IOException cause, boolean keepWritten) {
        lock.lock();
        try {
            if (failure == null) {
                noLongerShort();
                WriteFailedException failed = new WriteFailedException(String.valueOf(cause.getMessage()), cause);
                failure = failed;
                revivable = true;
                encoder.budget().beginFailure(failed);
                changed.signalAll();
            }
            if (!keepWritten) {
                beginDoubt();
                if (!revivable) {
                    dropLost();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Marks the frames that are not durable yet as doubtful. The caller holds {@code lock}. */
    private void beginDoubt() {
        if (certainFrames() > durableFrames) {
            // More chunks are lost than the caller may know of.
            lossReported = false;
            lossAbandoned = false;
        }
        inDoubt = true;
    }

    /** Returns the number of frames in the file that can be relied on. The caller holds {@code lock}. */
    private int certainFrames() {
        return inDoubt ? Math.min(durableFrames, written.frames()) : written.frames();
    }

    /**
     * Drops what cannot be stored any more. The caller holds {@code lock}, and must call {@link #drain} afterwards,
     * which empties the queue.
     */
    private void dropLost() {
        // Nothing waits for the disk any more.
        noLongerShort();
        noLongerRevivable();
        written.truncate(certainFrames());
        if (filling != null) {
            encoder.giveBack(filling);
            filling = null;
        }
        changed.signalAll();
    }

    /** Ends the chance to revive, if there is one, and frees the kept frames. The caller holds {@code lock}. */
    private void noLongerRevivable() {
        if (revivable) {
            revivable = false;
            encoder.budget().endFailure();
            kept.values().forEach(bytes -> encoder.budget().release(bytes.length));
            kept = Map.of();
        }
    }

    /**
     * Rewrites the file after a disk failure and returns the container to normal use, so that no chunk is lost. Does
     * nothing if the container did not fail, or lost nothing.
     *
     * @throws CorruptionException if a frame of the file cannot be read back: its chunks are lost
     * @throws IOException if the disk still fails, and the caller may retry; or if chunks that were to be written are
     *     lost
     */
    void revive() throws IOException {
        writing.lock();
        try {
            FrameTable table;
            lock.lock();
            try {
                if (failure == null || !revivable && (lossAbandoned || firstLostSlot() >= nextSlot)) {
                    return;
                }
                if (!revivable) {
                    throw new CorruptionException(
                            toString(), -1, "all chunks that were taken", "some were dropped: " + failure.getMessage());
                }
                table = written.build();
            } finally {
                lock.unlock();
            }
            Output anew = new Rewriting(directory, identity, table, keptFrames()).run();
            Output before = output;
            lock.lock();
            try {
                output = anew;
                failure = null;
                noLongerRevivable();
                inDoubt = false;
                durableFrames = table.frames();
                lossReported = false;
                lossAbandoned = false;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
            forcedFrames = table.frames();
            complete = false;
            closeOld(before);
        } finally {
            writing.unlock();
        }
        drain();
    }

    private Map<Integer, byte[]> keptFrames() {
        lock.lock();
        try {
            return kept;
        } finally {
            lock.unlock();
        }
    }

    /** Reads the frames whose force failed into memory. The caller holds {@code writing}. */
    private void keepUnforced() {
        Map<Integer, byte[]> read = Rewriting.keep(directory, identity, table(), forcedFrames, encoder.budget());
        lock.lock();
        try {
            if (revivable && kept.isEmpty()) {
                kept = read;
                return;
            }
        } finally {
            lock.unlock();
        }
        read.values().forEach(bytes -> encoder.budget().release(bytes.length));
    }

    private void closeOld(Output before) {
        try {
            before.close();
        } catch (IOException e) {
            log.debug("{}: the file that was replaced could not be closed", this, e);
        }
    }

    /** Records that the disk is full. Does nothing if the container has failed: then nothing waits for space. */
    private void beginShortage(NoSpaceException cause) {
        lock.lock();
        try {
            if (failure == null) {
                noLongerShort();
                shortage = cause;
                encoder.budget().beginShortage(cause);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Retries the writes that the disk had no space for. */
    private void endShortage() {
        lock.lock();
        try {
            noLongerShort();
        } finally {
            lock.unlock();
        }
        drain();
    }

    /**
     * Ends the shortage. The caller holds {@code lock}, so that the budget counts this container once or not at all.
     */
    private void noLongerShort() {
        if (shortage != null) {
            shortage = null;
            encoder.budget().endShortage();
        }
    }

    /** Throws if chunks, or the directory, wait for space on the disk; nothing is lost. */
    void throwIfShort() throws NoSpaceException {
        lock.lock();
        try {
            if (shortage != null) {
                throw Failures.again(this + " waits for space", shortage);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until every frame in the queue at the time of the call is in the file, or the disk is full, or the
     * container failed.
     */
    private void awaitWritten() {
        lock.lock();
        try {
            int wanted = written.frames() + queue.size();
            while (failure == null && shortage == null && written.frames() < wanted) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Forces the frames flushed before the call. First writes those that the disk had no space for. Failure and
     * shortage are recorded, not thrown: see {@link #reportLoss} and {@link #throwIfShort}.
     */
    void force() {
        endShortage();
        awaitWritten();
        writing.lock();
        try {
            int frames = unforcedFrames();
            if (frames > forcedFrames) {
                output.force();
                forcedFrames = frames;
            }
        } catch (IOException e) {
            diskFailed(e, false);
            keepUnforced();
        } finally {
            writing.unlock();
        }
        drain();
    }

    /** Returns the number of reliable frames in the file if it still needs forcing; 0 if it is sealed. */
    private int unforcedFrames() {
        lock.lock();
        try {
            return sealed ? 0 : certainFrames();
        } finally {
            lock.unlock();
        }
    }

    /** Notes that the directory was synced after {@link #force}. */
    void nameIsDurable() {
        int forced;
        writing.lock();
        try {
            forced = forcedFrames;
        } finally {
            writing.unlock();
        }
        drain();
        lock.lock();
        try {
            durableFrames = Math.max(durableFrames, Math.min(forced, certainFrames()));
        } finally {
            lock.unlock();
        }
    }

    /** Notes that the directory could not be synced. */
    void nameIsInDoubt(IOException cause) {
        lock.lock();
        try {
            if (sealed || (durableFrames == written.frames() + queue.size() && filling == null)) {
                return;
            }
        } finally {
            lock.unlock();
        }
        diskFailed(cause, false);
        drain();
    }

    /**
     * Writes the remaining frames, the directory and the footer, and gives the file its final name, all durably.
     *
     * @throws NoSpaceException if the disk is full; the container is unchanged and may be sealed later
     */
    SealedFile seal() throws IOException {
        flush();
        awaitWritten();
        writing.lock();
        try {
            throwIfFailed();
            throwIfShort();
            FrameTable table = table();
            boolean keepWritten = true;
            try {
                if (!complete) {
                    output.append(tail(table.encode()).buffer());
                    keepWritten = false;
                    output.force();
                    keepWritten = true;
                    forcedFrames = table.frames();
                    complete = true;
                }
                output.close();
                requireNotSealed(identity.container(), directory);
                directory.rename(name(ContainerFormat.OPEN_SUFFIX), name(ContainerFormat.SEALED_SUFFIX));
                keepWritten = false;
                directory.sync();
            } catch (IOException e) {
                if (keepWritten && e instanceof NoSpaceException full) {
                    beginShortage(full);
                } else {
                    diskFailed(e, keepWritten);
                    if (!complete && !keepWritten) {
                        keepUnforced();
                    }
                }
                throw e;
            }
            lock.lock();
            try {
                sealed = true;
            } finally {
                lock.unlock();
            }
            return new SealedFile(table, output.position());
        } finally {
            writing.unlock();
            drain();
        }
    }

    Writing writing() {
        return identity.writing();
    }

    /** Fails the container because an error ended the sealing at some step. Does nothing if it is sealed already. */
    void sealingFailed(Throwable cause) {
        lock.lock();
        try {
            if (sealed) {
                return;
            }
            fail(new IOException(this + ": sealing broke off", cause), false);
        } finally {
            lock.unlock();
        }
        drain();
    }

    /** The result of sealing: the frame table, and the file's length in bytes. */
    record SealedFile(FrameTable table, long fileBytes) {}

    private Bytes tail(byte[] tableBytes) {
        lock.lock();
        try {
            return ContainerFormat.tail(identity, tableBytes, chunkLists, output.position());
        } finally {
            lock.unlock();
        }
    }

    private String name(String suffix) {
        return ContainerFormat.fileName(identity.container(), suffix);
    }

    boolean isFailed() {
        lock.lock();
        try {
            return failure != null;
        } finally {
            lock.unlock();
        }
    }

    void throwIfFailed() throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                throw Failures.again(this + " could not be written", failure);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Throws to a reader if the lost frames were dropped. The caller holds {@code lock}. */
    private void throwIfDropped() throws IOException {
        if (failure != null && !revivable) {
            throw Failures.again(this + " could not be written", failure);
        }
    }

    /**
     * Returns why chunks of this container are lost, for {@code force} to report; null if none is lost or they were
     * abandoned.
     */
    @Nullable
    IOException reportLoss() {
        lock.lock();
        try {
            if (failure == null || lossAbandoned || firstLostSlot() >= nextSlot) {
                return null;
            }
            lossReported = true;
            return failure;
        } finally {
            lock.unlock();
        }
    }

    /** Stops reporting losses that were already reported; drops chunks kept for {@link #revive}. */
    void abandonLost() {
        lock.lock();
        try {
            lossAbandoned |= lossReported;
            if (lossAbandoned && revivable) {
                dropLost();
            }
        } finally {
            lock.unlock();
        }
        drain();
    }

    /** Returns whether a slot was assigned and its chunk can no longer be stored. */
    boolean isLost(int slot) {
        lock.lock();
        try {
            return failure != null && slot >= firstLostSlot() && slot < nextSlot;
        } finally {
            lock.unlock();
        }
    }

    private int firstLostSlot() {
        return written.slots(certainFrames());
    }

    /** Returns the frame table of the frames in the file. */
    FrameTable table() {
        lock.lock();
        try {
            return written.build();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of the frame that holds a slot, in the file or not yet; -1 if the slot was not assigned. */
    int frameOf(int slot) throws IOException {
        lock.lock();
        try {
            if (slot < written.slots()) {
                return written.frameOf(slot);
            }
            if (slot >= nextSlot) {
                return -1;
            }
            throwIfDropped();
            int frame = written.frames();
            for (PendingFrame pending : queue) {
                if (slot < pending.raw.firstSlot() + pending.raw.count()) {
                    return frame;
                }
                frame++;
            }
            return frame;
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
            int index = frame - written.frames();
            if (index < 0) {
                return null;
            }
            throwIfDropped();
            if (index == queue.size()) {
                ended = cut();
            }
            for (PendingFrame pending : queue) {
                if (index-- == 0) {
                    return pending.raw.toFrame(identity.container());
                }
            }
            return null;
        } finally {
            lock.unlock();
            submit(ended);
        }
    }

    /** Returns the length of the header and frames in the file, in bytes. */
    long fileBytes() {
        lock.lock();
        try {
            return fileBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the file without forcing or sealing it; data that was not forced may be lost. */
    void close() throws IOException {
        writing.lock();
        try {
            fail(new IOException(this + " is closed"), true);
            output.close();
        } finally {
            writing.unlock();
        }
        drain();
    }

    @Override
    public String toString() {
        return "container " + identity.container();
    }
}
