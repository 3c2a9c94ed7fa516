package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.ContainerFormat.Identity;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;

/**
 * A container being written: a frame being filled, a queue of frames being compressed, and a file that takes them in order.
 *
 * <p>A chunk has its id once it is appended. When its frame is full, or flushed, a worker compresses it; whichever worker
 * finds the queue's head compressed writes it. Until then readers are served from the queue.
 *
 * <p>A failed write fails the container for good: nothing is appended to it any more, frames not in the file are lost, and
 * the ones in it can still be forced and read. A failed force also loses the frames written since the last one that
 * succeeded, as the operating system may have dropped them. The file stays unsealed until the next recovery.
 *
 * <p>A write that finds the disk full is no failure: its frame and those behind it stay in the queue, and are written when {@link
 * #force} or {@link #seal} tries again. Until then appends are refused.
 *
 * <p>Two locks: {@code writing} is held by the one that uses the output, {@code lock} guards the rest and is held briefly;
 * the second may be taken under the first, never the other way round.
 */
final class OpenContainer {
    /** What is compressed in less time than handing it to a worker and being woken by it takes, some 100 µs. */
    private static final int MAX_FLUSHED_HERE_BYTES = 16 << 10;

    private final Identity identity;
    private final Directory directory;
    private final FrameEncoder encoder;
    private final Output output;

    private final ReentrantLock writing = new ReentrantLock();
    /** Of the output: frames that are certainly on the disk, but for the file's name. Guarded by {@code writing}. */
    private int forcedFrames;
    /** Whether directory and footer are behind the frames, and all bytes on the disk: only the final name is missing. As above. */
    private boolean complete;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // All below: guarded by lock.
    private int nextSlot;
    private @Nullable RawFrame filling;
    private final ArrayDeque<PendingFrame> queue = new ArrayDeque<>();
    private long queuedBytes;
    private final FrameTable.Builder written;
    private final Bytes chunkLists = new Bytes(1024);
    private long fileBytes;
    private int durableFrames;
    private boolean sealed;
    /** Whether the caller was told of the lost chunks, and whether it has since given them up. */
    private boolean lossReported;

    private boolean lossAbandoned;

    private @Nullable IOException failure;

    /** Why the queue's head was not written when it was tried last: the disk was full. */
    private @Nullable NoSpaceException shortage;

    private OpenContainer(Identity identity, Directory directory, FrameEncoder encoder, Output output) {
        this.identity = identity;
        this.written = new FrameTable.Builder(identity.writing());
        this.directory = directory;
        this.encoder = encoder;
        this.output = output;
        this.fileBytes = output.position();
    }

    /** Makes the file and writes its header. A file that could not be begun is deleted again. */
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

    /** An existing container is never overwritten, whoever gave out its id twice. */
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

    /** Copies a chunk in and returns its id. */
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

    /** Whether the container has, or will have once all is compressed, at least so many bytes or slots. */
    boolean isFull(int containerBytes, int maxChunks) {
        lock.lock();
        try {
            long unwritten = queuedBytes + (filling == null ? 0 : filling.bytes());
            return nextSlot >= maxChunks || fileBytes + encoder.estimateStored(unwritten) >= containerBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Has the frame being filled, if any, compressed and written: a small one here and now, a larger one by the workers. */
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

    /** Moves the frame being filled to the queue. Under the lock. */
    private @Nullable PendingFrame cut() {
        RawFrame frame = filling;
        if (frame == null || failure != null) {
            return null;
        }
        filling = null;
        PendingFrame pending = new PendingFrame(frame, encoder.admit(frame));
        queue.add(pending);
        queuedBytes += frame.bytes();
        return pending;
    }

    /** Not under the lock: the workers may run the task at once, in this thread. */
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

    @SuppressWarnings("CatchingUnchecked") // a worker's death must reach those who wait for the frame
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

    /** Writes every frame that is ready and has none before it. If somebody else is writing, that one does it. */
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
            return head != null && head.ready && shortage == null;
        } finally {
            lock.unlock();
        }
    }

    /** Writes the queue's head, drops it if the container failed, or leaves it. With {@code writing} held and the head ready. */
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
                fail(e, true);
            } catch (RuntimeException | Error e) {
                // Out of memory, say. The frame must leave the queue all the same: others wait for it.
                fail(new IOException(this + ": a frame could not be written: " + e, e), true);
            }
        }
        finish(head, offset);
    }

    /** Takes the head off the queue; {@code offset} is where in the file it was written, -1 if it was not. */
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

    /** @param keepWritten whether the frames in the file that were not forced yet may still be counted on */
    private void fail(IOException cause, boolean keepWritten) {
        lock.lock();
        try {
            if (failure == null) {
                failure = cause;
            }
            // Nobody waits for space any more: what is in the queue is dropped.
            noLongerShort();
            if (!keepWritten && written.frames() > durableFrames) {
                written.truncate(durableFrames);
                // More is lost than the caller may know of.
                lossReported = false;
                lossAbandoned = false;
            }
            if (filling != null) {
                encoder.giveBack(filling);
                filling = null;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Does nothing if the container has failed: then nothing waits for space. */
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

    /** Tries again what the disk had no room for. */
    private void endShortage() {
        lock.lock();
        try {
            noLongerShort();
        } finally {
            lock.unlock();
        }
        drain();
    }

    /** Under the lock, so that the budget counts this container once or not at all. */
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

    /** Waits until every frame handed to the workers so far is in the file, the disk is full, or the container failed. */
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
     * Forces the frames flushed before the call; first writes those that had no room. Failure and shortage are kept, not thrown: see
     * {@link #reportLoss}, {@link #throwIfShort}.
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
            fail(e, false);
        } finally {
            writing.unlock();
        }
        drain();
    }

    /** Frames in the file if it is still to be forced, else 0. */
    private int unforcedFrames() {
        lock.lock();
        try {
            return sealed ? 0 : written.frames();
        } finally {
            lock.unlock();
        }
    }

    /** Tells that the directory was synced after {@link #force}. */
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
            durableFrames = Math.max(durableFrames, Math.min(forced, written.frames()));
        } finally {
            lock.unlock();
        }
    }

    /** Tells that the directory could not be synced. */
    void nameIsInDoubt(IOException cause) {
        lock.lock();
        try {
            if (sealed || (durableFrames == written.frames() + queue.size() && filling == null)) {
                return;
            }
        } finally {
            lock.unlock();
        }
        fail(cause, false);
        drain();
    }

    /**
     * Writes all that was appended, the directory and the footer, and gives the file its final name, all durably.
     *
     * @throws NoSpaceException if there was no room; the container is as it was, and may be sealed later
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
                    fail(e, keepWritten);
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

    /** An error ended the sealing at whatever step. What is sealed already stays so. */
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

    /** What sealing made: the frame table, and the file's length. */
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

    /** Why chunks of this container are lost, for {@code force} to report; null if none is or they were abandoned. */
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

    /** What was reported as lost is not to be reported any more. */
    void abandonLost() {
        lock.lock();
        try {
            lossAbandoned |= lossReported;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a slot was given out and its chunk can no longer be stored. */
    boolean isLost(int slot) {
        lock.lock();
        try {
            return failure != null && slot >= firstLostSlot() && slot < nextSlot;
        } finally {
            lock.unlock();
        }
    }

    private int firstLostSlot() {
        return written.slots();
    }

    /** Frames in the file. */
    FrameTable table() {
        lock.lock();
        try {
            return written.build();
        } finally {
            lock.unlock();
        }
    }

    /** The number of the frame that holds a slot, in the file or not yet; -1 if the slot was not given out. */
    int frameOf(int slot) throws IOException {
        lock.lock();
        try {
            if (slot < written.slots()) {
                return written.frameOf(slot);
            }
            if (slot >= nextSlot) {
                return -1;
            }
            throwIfFailed();
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
     * A frame from memory, or null if it is in the file. A frame that is still being filled is ended by this: what a reader
     * has seen of a frame must stay true.
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
            throwIfFailed();
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

    /** Bytes in the file. */
    long fileBytes() {
        lock.lock();
        try {
            return fileBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the file as it is; what was not forced may be lost. */
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
