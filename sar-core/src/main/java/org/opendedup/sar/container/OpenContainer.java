package org.opendedup.sar.container;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;

/**
 * A container being written: its frames ({@link OpenFrames}), and its place in the {@link Pack} to which they are
 * written in order.
 *
 * <p>A chunk has its id once it is appended. When its frame is full, or flushed, a worker compresses it. The worker
 * that finds the next frame of the pack compressed writes it. Until then readers are served from the queue.
 *
 * <p>{@link #end} ends the container: directory and footer follow its last frame, and the next container of the pack
 * begins. It is sealed once all that is durable.
 *
 * <p>A failed write fails the container: it accepts no more chunks, frames not in the file count as lost, and frames in
 * the file can still be read. A failed force also makes those frames doubtful that were written after the last
 * successful force, because the operating system may have dropped them. If the disk was the cause, all frames stay in
 * the file and in the queue, and can be read from there, until {@link #revive} writes them to another pack or
 * {@link #abandonLost} gives them up. With any other cause, lost frames are dropped, and the container stays unsealed
 * until the next recovery.
 *
 * <p>A write that finds the disk full is not a failure: its frame and the later ones stay in the queue, and are written
 * when {@link ContainerStore#force} retries. Until then appends are refused. If another data location has room, the
 * container goes on there instead ({@link #move}). {@link WriteState} draws all this.
 *
 * <p>Two locks: that of the pack, and that of {@link OpenFrames}, which is held briefly, within that class. A thread
 * may acquire the latter while it holds the former, never the other way round.
 */
final class OpenContainer implements Pack.Member {
    /**
     * Largest frame that {@link #flush} compresses in the calling thread, in bytes. Compressing it takes less time than
     * handing it to a worker and waiting to be woken, about 100 µs.
     */
    private static final int MAX_FLUSHED_HERE_BYTES = 16 << 10;

    private final ContainerWriting writing;
    private final ContainerIdentity identity;
    private final Directory directory;
    private final FrameEncoder encoder;
    private final CompressionTrial trial;
    private final OpenFrames frames;

    /** Changed by {@link #revive} and {@link #move} only. */
    private volatile Pack pack;
    /** Null until the first frame is written. Changed with the pack's lock held. */
    private volatile @Nullable PackPlace place;
    /** Whether no more chunks are appended. */
    private volatile boolean ended;
    /** Length of the complete container in bytes; 0 until then. Changed with the pack's lock held. */
    private volatile long completeBytes;
    /** What is certainly on the disk; the name of the file may not be durable yet. Guarded by the pack's lock. */
    private WrittenExtent forced = WrittenExtent.NONE;
    /** This container in the table, as of the last commit; null if it is not in it. Guarded by this. */
    private @Nullable StoredContainer recorded;

    /**
     * Makes a container that is written to a pack, after the containers which that has.
     *
     * @param trial shared with the containers before and after it that have the same streams
     */
    OpenContainer(
            ContainerWriting writing, Directory directory, FrameEncoder encoder, Pack pack, CompressionTrial trial) {
        this.writing = writing;
        identity = writing.identity();
        this.directory = directory;
        this.encoder = encoder;
        this.trial = trial;
        this.pack = pack;
        this.frames = new OpenFrames(writing, encoder, this::submit);
        pack.add(this);
    }

    long container() {
        return identity.container();
    }

    Pack pack() {
        return pack;
    }

    OpenFrames frames() {
        return frames;
    }

    /** Returns where the frames in the file lie; null if there are none. */
    @Nullable
    PackPlace place() {
        return place;
    }

    /** Returns the frame table of the frames in the file, and where they lie. */
    LocatedTable located() {
        FrameTable table = frames.table();
        PackPlace at = place;
        return at == null
                ? new LocatedTable(LocatedTable.NO_PACK, 0, table)
                : new LocatedTable(at.pack(), at.offset(), table);
    }

    /** Copies a chunk into the frame being filled and returns the chunk's id. */
    long append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset) throws IOException {
        int slot = frames.append(data, offset, length, fingerprints, fingerprintOffset);
        return ChunkId.of(identity.container(), slot);
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

    /** Ends the container: no chunk is appended any more, and directory and footer follow the last frame. */
    void end() {
        flush();
        ended = true;
        pack.drain();
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
            frames.compressed(pending, encoder.encode(pending.raw, writing, trial));
        } catch (RuntimeException | Error e) {
            encodeFailed(pending, e);
            throw e;
        }
        pack.drain();
    }

    private void encodeFailed(PendingFrame pending, Throwable cause) {
        frames.fail(new IOException(this + ": a frame could not be compressed", cause), true);
        frames.compressed(pending, null);
        pack.drain();
    }

    @Override
    public boolean isWritten() {
        return completeBytes > 0 || frames.isDropped() || ended && frames.isEmpty();
    }

    @Override
    public boolean canWrite() {
        return frames.headIsReady() || ended && completeBytes == 0 && frames.isAllWritten();
    }

    @Override
    public void writeNext() {
        if (frames.headIsReady()) {
            writeHead();
        } else if (ended && frames.isAllWritten() && completeBytes == 0) {
            complete();
        }
    }

    /**
     * Writes the head of the queue. Drops it if the container failed permanently. Leaves it in the queue if the disk is
     * full or fails, here or in another thread. The caller holds the pack's lock, and the head is ready.
     */
    private void writeHead() {
        long offset = -1;
        Bytes encoded = frames.headToWrite();
        if (encoded != null) {
            try {
                offset = append(encoded);
            } catch (IOException | RuntimeException | Error e) {
                if (appendFailed(e)) {
                    return;
                }
            }
        }
        frames.removeHead(offset);
    }

    /** Appends directory and footer. The caller holds the pack's lock. */
    private void complete() {
        try {
            long start = Objects.requireNonNull(place).offset();
            append(frames.tail(frames.table().encode(), pack.position() - start));
            completeBytes = pack.position() - start;
            pack.startWriting();
        } catch (IOException | RuntimeException | Error e) {
            appendFailed(e);
        }
    }

    /** Appends bytes, after the header if they are the first; returns their offset in the container. */
    private long append(Bytes bytes) throws IOException {
        PackPlace begun = place;
        if (begun == null) {
            long end = pack.position();
            long start = PackFormat.align(end);
            pack.append(ContainerFormat.begin(writing, (int) (start - end)).buffer());
            begun = new PackPlace(pack.number(), start);
            place = begun;
        }
        return pack.append(bytes.buffer()) - begun.offset();
    }

    /** Notes why bytes were not appended. Returns whether they can be appended later. */
    private boolean appendFailed(Throwable e) {
        if (e instanceof NoSpaceException full) {
            pack.beginShortage(full);
            return true;
        }
        if (e instanceof IOException failure) {
            pack.fail(failure, true);
            return true;
        }
        // For example out of memory. The frame must leave the queue nevertheless: other threads wait for it.
        frames.fail(new IOException(this + ": a frame could not be written: " + e, e), true);
        return false;
    }

    /**
     * Writes the container to another pack after a disk failure and ends it, so that no chunk is lost. Does nothing if
     * the container did not fail, or lost nothing.
     *
     * @param fresh a pack without containers; all that is written to it is durable when this returns, including its
     *     name
     * @return whether the container is now in that pack
     * @throws CorruptionException if a frame of the file cannot be read back: its chunks are lost
     * @throws IOException if the disk still fails, and the caller may retry; or if chunks that were to be written are
     *     lost
     */
    boolean revive(Pack fresh) throws IOException {
        Pack before = pack;
        before.lock().lock();
        try {
            Rewriting rewriting = frames.rewriting(directory, place);
            if (rewriting == null) {
                return false;
            }
            PackPlace moved = rewriting.run(fresh);
            frames.revived(rewriting.frames());
            ended = true;
            goOn(fresh, moved, rewriting.frames());
            return true;
        } finally {
            before.lock().unlock();
            before.drain();
            pack.drain();
        }
    }

    /**
     * Writes the container to another pack and goes on there, because its own pack has no space. Does nothing if the
     * container does not wait for space.
     *
     * @param fresh as in {@link #revive}
     * @return whether the container is now in that pack
     * @throws IOException as {@link #revive}; the container waits as before then
     */
    boolean move(Pack fresh) throws IOException {
        Pack before = pack;
        before.lock().lock();
        try {
            Rewriting rewriting = frames.moving(directory, place);
            if (rewriting == null) {
                return false;
            }
            PackPlace moved = rewriting.run(fresh);
            frames.moved(rewriting.frames());
            goOn(fresh, moved, rewriting.frames());
            return true;
        } finally {
            before.lock().unlock();
            before.drain();
            pack.drain();
        }
    }

    /** Leaves the pack for one in which everything that was written is durable. The caller holds the pack's lock. */
    private void goOn(Pack fresh, @Nullable PackPlace moved, int durableFrames) {
        Pack before = pack;
        place = moved;
        forced = new WrittenExtent(durableFrames, false);
        completeBytes = 0;
        fresh.add(this);
        pack = fresh;
        before.remove(this);
    }

    @Override
    public void keepUnforced() {
        PackPlace written = place;
        if (written == null || frames.isSealed()) {
            return;
        }
        Map<Integer, byte[]> read =
                Rewriting.keep(directory, writing, written, frames.table(), forced.frames(), encoder.budget());
        if (!frames.keep(read)) {
            read.values().forEach(bytes -> encoder.budget().release(bytes.length));
        }
    }

    @Override
    public void beginShortage(NoSpaceException cause) {
        if (completeBytes == 0) {
            frames.beginShortage(cause);
        }
    }

    @Override
    public void endShortage() {
        frames.endShortage();
    }

    @Override
    public void diskFailed(IOException cause, boolean keepWritten) {
        frames.diskFailed(cause, keepWritten);
    }

    @Override
    public @Nullable WrittenExtent unforced() {
        WrittenExtent written = new WrittenExtent(frames.reliableFrames(), completeBytes > 0 && !frames.isFailed());
        return frames.isSealed() || written.frames() <= forced.frames() && written.complete() == forced.complete()
                ? null
                : written;
    }

    @Override
    public void noteForced(WrittenExtent extent) {
        forced = extent;
    }

    /** Notes that the file's name is durable too. */
    void nameIsDurable() {
        WrittenExtent durable;
        pack.lock().lock();
        try {
            durable = forced;
        } finally {
            pack.lock().unlock();
        }
        pack.drain();
        frames.nameIsDurable(durable.frames());
        if (durable.complete()) {
            frames.seal();
        }
    }

    /**
     * Returns whether there is nothing to be stored: no chunk was appended, and none will be. False while the container
     * waits for its disk, because the budget counts it then.
     */
    boolean isEmpty() {
        return ended && frames.isEmpty() && frames.isWorking();
    }

    /**
     * Returns the container's entry for the table, as far as it is durable; null if that is the entry which the table
     * has. To be called after {@link #nameIsDurable}.
     */
    synchronized @Nullable StoredContainer unrecorded() {
        PackPlace at = place;
        int durable = frames.durableFrames();
        if (at == null || durable == 0) {
            return null;
        }
        FrameTable table = frames.table();
        StoredContainer.State state = frames.isSealed() ? StoredContainer.State.SEALED : StoredContainer.State.OPEN;
        long bytes = frames.isSealed() ? completeBytes : table.fileOffset(durable - 1) + table.fileLength(durable - 1);
        long rawBytes = 0;
        for (int frame = 0; frame < durable; frame++) {
            rawBytes += table.rawLength(frame);
        }
        int slots = table.firstSlot(durable - 1) + table.slotCount(durable - 1);
        StoredContainer now =
                new StoredContainer(identity.writing(), state, at.pack(), at.offset(), bytes, slots, rawBytes);
        return now.equals(recorded) ? null : now;
    }

    /** Returns whether all chunks are durable and in the table: a force has nothing to do here. */
    synchronized boolean isQuiet() {
        return !ended && frames.isDurable() && frames.slots() == (recorded == null ? 0 : recorded.slots());
    }

    /** Notes that the table has this entry. */
    synchronized void noteRecorded(StoredContainer entry) {
        recorded = entry;
    }

    /** Returns the bytes of the container that the table counts. */
    synchronized long recordedBytes() {
        return recorded == null ? 0 : recorded.bytes();
    }

    synchronized boolean isRecorded() {
        return recorded != null;
    }

    /** Stops reporting losses that were already reported; drops chunks kept for {@link #revive}. */
    void abandonLost() {
        frames.abandonLost();
        pack.drain();
    }

    /** Returns the length of what is in the file, in bytes. */
    long fileBytes() {
        return Math.max(completeBytes, frames.fileBytes());
    }

    /** Accepts no more chunks and drops what is not in the file; data that was not forced may be lost. */
    void close() {
        frames.fail(new IOException(this + " is closed"), true);
        pack.drain();
    }

    @Override
    public String toString() {
        return "container " + identity.container();
    }
}
