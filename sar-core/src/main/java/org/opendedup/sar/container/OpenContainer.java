package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A container being written: its frames ({@link OpenFrames}), and the file to which they are written in order.
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
 * when {@link #force} or {@link #seal} retries. Until then appends are refused. {@link WriteState} draws all this.
 *
 * <p>Two locks: {@code writing} is held by the thread that uses the output. The lock of {@link OpenFrames} guards the
 * frames and their state, and is held briefly, within that class. A thread may acquire the latter while it holds
 * {@code writing}, never the other way round.
 *
 * <p>A thread that finds {@code writing} held does not wait for it to write a frame, but leaves it to the holder. So
 * each method that releases {@code writing}, or makes a head ready otherwise, calls {@link #drain} afterwards.
 */
final class OpenContainer {
    private static final Logger log = LoggerFactory.getLogger(OpenContainer.class);
    /**
     * Largest frame that {@link #flush} compresses in the calling thread, in bytes. Compressing it takes less time than
     * handing it to a worker and waiting to be woken, about 100 µs.
     */
    private static final int MAX_FLUSHED_HERE_BYTES = 16 << 10;

    private final ContainerIdentity identity;
    private final Directory directory;
    private final FrameEncoder encoder;
    private final OpenFrames frames;

    private final ReentrantLock writing = new ReentrantLock();
    /** Guarded by {@code writing}. */
    private Output output;
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

    private OpenContainer(ContainerIdentity identity, Directory directory, FrameEncoder encoder, Output output) {
        this.identity = identity;
        this.directory = directory;
        this.encoder = encoder;
        this.output = output;
        this.frames = new OpenFrames(identity, encoder, output.position(), this::submit);
    }

    /** Creates the file and writes its header. Deletes the file again if the header cannot be written. */
    static OpenContainer create(long container, long salt, Directory directory, FrameEncoder encoder)
            throws IOException {
        ContainerIdentity identity = new ContainerIdentity(container, salt, ContainerFormat.FIRST_GENERATION);
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

    Writing writing() {
        return identity.writing();
    }

    /** Copies a chunk into the frame being filled and returns the chunk's id. */
    long append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset) throws IOException {
        int slot = frames.append(data, offset, length, fingerprints, fingerprintOffset);
        return ChunkId.of(identity.container(), slot);
    }

    /**
     * Returns whether the container has reached either limit, in bytes or in slots. Counts frames not written yet with
     * their estimated compressed size.
     */
    boolean isFull(int containerBytes, int maxChunks) {
        return frames.isFull(containerBytes, maxChunks);
    }

    /**
     * Ends the frame being filled, if any, and has it compressed and written: a small one in this thread, a larger one
     * by the workers.
     */
    void flush() {
        PendingFrame cut = frames.flush();
        if (cut == null) {
            return;
        }
        if (cut.raw.bytes() <= Math.min(MAX_FLUSHED_HERE_BYTES, encoder.frameBytes() / 4)) {
            encode(cut);
        } else {
            submit(cut);
        }
    }

    /** Hands a frame to the workers. They may run the task at once, in this thread. */
    private void submit(PendingFrame pending) {
        try {
            encoder.execute(() -> encode(pending));
        } catch (RejectedExecutionException e) {
            encodeFailed(pending, e);
        }
    }

    @SuppressWarnings("CatchingUnchecked") // a worker's failure must reach the threads that wait for the frame
    private void encode(PendingFrame pending) {
        try {
            frames.compressed(pending, encoder.encode(pending.raw, identity));
        } catch (RuntimeException | Error e) {
            encodeFailed(pending, e);
            throw e;
        }
        drain();
    }

    private void encodeFailed(PendingFrame pending, Throwable cause) {
        frames.fail(new IOException(this + ": a frame could not be compressed", cause), true);
        frames.compressed(pending, null);
        drain();
    }

    /**
     * Writes frames from the head of the queue while the head is ready. Does nothing if another thread is writing: that
     * thread writes them.
     */
    private void drain() {
        while (frames.headIsReady() && writing.tryLock()) {
            try {
                while (frames.headIsReady()) {
                    writeHead();
                }
            } finally {
                writing.unlock();
            }
        }
    }

    /**
     * Writes the head of the queue. Drops it if the container failed permanently. Leaves it in the queue if the disk is
     * full or fails, here or in another thread. The caller holds {@code writing}, and the head is ready.
     */
    private void writeHead() {
        long offset = -1;
        Bytes encoded = frames.headToWrite();
        if (encoded != null) {
            try {
                offset = output.append(encoded.buffer());
            } catch (NoSpaceException e) {
                frames.beginShortage(e);
                return;
            } catch (IOException e) {
                frames.diskFailed(e, true);
                return;
            } catch (RuntimeException | Error e) {
                // For example out of memory. The frame must leave the queue nevertheless: other threads wait for it.
                frames.fail(new IOException(this + ": a frame could not be written: " + e, e), true);
            }
        }
        frames.removeHead(offset);
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
            Rewriting rewriting = frames.rewriting(directory);
            if (rewriting == null) {
                return;
            }
            Output before = output;
            output = rewriting.run();
            forcedFrames = rewriting.frames();
            complete = false;
            closeOld(before);
            frames.revived(rewriting.frames());
        } finally {
            writing.unlock();
            drain();
        }
    }

    private void closeOld(Output before) {
        try {
            before.close();
        } catch (IOException e) {
            log.debug("{}: the file that was replaced could not be closed", this, e);
        }
    }

    /** Reads the frames whose force failed into memory. The caller holds {@code writing}. */
    private void keepUnforced() {
        Map<Integer, byte[]> read = Rewriting.keep(directory, identity, table(), forcedFrames, encoder.budget());
        if (!frames.keep(read)) {
            read.values().forEach(bytes -> encoder.budget().release(bytes.length));
        }
    }

    /** Throws if chunks, or the directory, wait for space on the disk; nothing is lost. */
    void throwIfShort() throws NoSpaceException {
        frames.throwIfShort();
    }

    /**
     * Forces the frames flushed before the call. First writes those that the disk had no space for. Failure and
     * shortage are recorded, not thrown: see {@link #reportLoss} and {@link #throwIfShort}.
     */
    void force() {
        frames.endShortage();
        drain();
        frames.awaitWritten();
        writing.lock();
        try {
            int unforced = frames.isSealed() ? 0 : frames.reliableFrames();
            if (unforced > forcedFrames) {
                output.force();
                forcedFrames = unforced;
            }
        } catch (IOException e) {
            frames.diskFailed(e, false);
            keepUnforced();
        } finally {
            writing.unlock();
        }
        drain();
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
        frames.nameIsDurable(forced);
    }

    /** Notes that the directory could not be synced. */
    void nameIsInDoubt(IOException cause) {
        if (frames.areDurable()) {
            return;
        }
        frames.diskFailed(cause, false);
        drain();
    }

    /**
     * Writes the remaining frames, the directory and the footer, and gives the file its final name, all durably.
     *
     * @throws NoSpaceException if the disk is full; the container is unchanged and may be sealed later
     */
    SealedFile seal() throws IOException {
        flush();
        frames.awaitWritten();
        writing.lock();
        try {
            throwIfFailed();
            throwIfShort();
            FrameTable table = table();
            boolean keepWritten = true;
            try {
                if (!complete) {
                    output.append(frames.tail(table.encode(), output.position()).buffer());
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
                    frames.beginShortage(full);
                } else {
                    frames.diskFailed(e, keepWritten);
                    if (!complete && !keepWritten) {
                        keepUnforced();
                    }
                }
                throw e;
            }
            if (!frames.seal()) {
                // Another thread found meanwhile that the name is in doubt.
                throwIfFailed();
            }
            return new SealedFile(table, output.position());
        } finally {
            writing.unlock();
            drain();
        }
    }

    /** The result of sealing: the frame table, and the file's length in bytes. */
    record SealedFile(FrameTable table, long fileBytes) {}

    private String name(String suffix) {
        return ContainerFormat.fileName(identity.container(), suffix);
    }

    /**
     * Fails the container because an error ended the sealing at some step. Does nothing if it is sealed already. Called
     * by the thread that seals.
     */
    void sealingFailed(Throwable cause) {
        if (frames.isSealed()) {
            return;
        }
        frames.fail(new IOException(this + ": sealing stopped", cause), false);
        drain();
    }

    boolean isFailed() {
        return frames.isFailed();
    }

    void throwIfFailed() throws IOException {
        frames.throwIfFailed();
    }

    /**
     * Returns why chunks of this container are lost, for {@code force} to report; null if none is lost or they were
     * abandoned.
     */
    @Nullable
    IOException reportLoss() {
        return frames.reportLoss();
    }

    /** Stops reporting losses that were already reported; drops chunks kept for {@link #revive}. */
    void abandonLost() {
        frames.abandonLost();
        drain();
    }

    /** Returns whether a slot was assigned and its chunk can no longer be stored. */
    boolean isLost(int slot) {
        return frames.isLost(slot);
    }

    /** Returns the frame table of the frames in the file. */
    FrameTable table() {
        return frames.table();
    }

    /** Returns the number of the frame that holds a slot, in the file or not yet; -1 if the slot was not assigned. */
    int frameOf(int slot) throws IOException {
        return frames.frameOf(slot);
    }

    /**
     * Returns a frame from memory, or null if it is in the file. Ends the frame if it is still being filled: a frame
     * that a reader has seen must not change.
     */
    @Nullable
    Frame frameInMemory(int frame) throws IOException {
        return frames.frameInMemory(frame);
    }

    /** Returns the length of the header and frames in the file, in bytes. */
    long fileBytes() {
        return frames.fileBytes();
    }

    /** Closes the file without forcing or sealing it; data that was not forced may be lost. */
    void close() throws IOException {
        writing.lock();
        try {
            frames.fail(new IOException(this + " is closed"), true);
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
