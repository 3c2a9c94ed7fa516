package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.metadata.ReferenceCounts;
import org.opendedup.sar.restore.frame.DamageListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frames that were found damaged. They are not deleted, but no new data may refer to them, so that writing the same
 * content again stores a new copy. A report has effect immediately. The next commit makes it durable with the counts,
 * so that the next mount knows it too.
 */
final class DamagedFrames implements DamageListener {
    private static final Logger log = LoggerFactory.getLogger(DamagedFrames.class);
    /**
     * Maximum number of frames remembered. A disk with more of them is failing anyway, and each further one is found
     * again when it is read.
     */
    private static final int MAX_FRAMES = 100_000;

    /** Represents a slot that its container does not have. */
    private static final int NO_FRAME = ChunkId.MAX_SLOTS - 1;

    private final ContainerStore containers;
    private final ReferenceCounts counts;
    private final Lock changes;
    private final Executor recorders;
    private final Set<Long> frames = ConcurrentHashMap.newKeySet();
    /** Frames, as {@link FrameId}s, that are not marked in the counts yet. */
    private final Set<Long> unrecorded = ConcurrentHashMap.newKeySet();

    private final Set<Long> missing = ConcurrentHashMap.newKeySet();
    /** Number of frames whose damage could not be marked in the counts. */
    private final AtomicLong unmarked = new AtomicLong();

    /**
     * @param changes lock that is held shared while counts change
     * @param recorders runs tasks that wait for that lock, because the reporting thread may hold other locks
     */
    DamagedFrames(ContainerStore containers, ReferenceCounts counts, Lock changes, Executor recorders) {
        this.containers = containers;
        this.counts = counts;
        this.changes = changes;
        this.recorders = recorders;
    }

    /**
     * Records that a frame cannot be read.
     *
     * @param frame the frame's number, or -1 if the container has no such slot
     */
    @Override
    public void damaged(long inode, long container, int frame, IOException cause) {
        report(inode, container, frame, cause, isCollected(container, frame));
    }

    @Override
    public void damagedChunk(long inode, long chunk, int frame, IOException cause) {
        report(inode, ChunkId.container(chunk), frame, cause, isCollected(chunk));
    }

    private void report(long inode, long container, int frame, IOException cause, boolean isCollected) {
        if (cause instanceof ClosedChannelException || cause instanceof InterruptedIOException) {
            return;
        }
        if (isCollected) {
            log.debug(
                    "container {}, frame {}: a reader of inode {} that was ahead of a change of the file found it"
                            + " collected",
                    container,
                    frame,
                    inode);
            return;
        }
        long key = FrameId.of(container, frame < 0 ? NO_FRAME : frame);
        boolean isNew = frames.size() < MAX_FRAMES && frames.add(key);
        if (isNew) {
            log.error(
                    "container {}, frame {}, wanted by inode {}, cannot be read: {}",
                    container,
                    frame,
                    inode,
                    cause.getMessage());
            if (frame >= 0 && containers.isSealed(container)) {
                keep(key);
            }
        }
    }

    /** Records that slots which were known to be damaged have the right bytes. */
    void foundSound(long container, BitSet slots) throws IOException {
        changes.lock();
        try {
            counts.markSound(container, slots);
        } finally {
            changes.unlock();
        }
        FrameTable table = containers.frameTable(container);
        slots.stream().forEach(slot -> frames.remove(FrameId.of(container, table.frameOf(slot))));
        log.info(
                "the scrub found {} chunks of container {} sound that were known as damaged",
                slots.cardinality(),
                container);
    }

    /**
     * Records what a scrub found damaged: slots {@code first} to {@code end} (exclusive), which are a frame, or a whole
     * container without one.
     *
     * @param frame the frame's number, or -1
     */
    void found(long container, int frame, int first, int end, IOException cause) throws IOException {
        boolean isNew = mark(container, first, end);
        if (frame >= 0 && frames.size() < MAX_FRAMES) {
            isNew |= frames.add(FrameId.of(container, frame));
        }
        if (isNew) {
            log.error(
                    "the scrub found {} of container {} damaged, slots {} to {}: {}",
                    frame < 0 ? "all" : "frame " + frame,
                    container,
                    first,
                    end - 1,
                    cause.getMessage());
        }
    }

    /**
     * Returns whether no file refers to a frame any more, so that the garbage collector may have removed it. A reader
     * that reads ahead may want it nevertheless, by an older recipe.
     */
    private boolean isCollected(long container, int frame) {
        try {
            BitSet alive = counts.alive(container);
            if (alive.isEmpty()) {
                return true;
            }
            if (frame < 0 || !containers.isSealed(container)) {
                return false;
            }
            FrameTable table = containers.frameTable(container);
            if (frame >= table.frames()) {
                return false;
            }
            int next = alive.nextSetBit(table.firstSlot(frame));
            return next < 0 || next >= table.firstSlot(frame) + table.slotCount(frame);
        } catch (IOException e) {
            log.debug("whether container {} has chunks that files refer to is not known", container, e);
            return false;
        }
    }

    /** Returns whether no file refers to a chunk any more, although one may refer to others of its frame. */
    private boolean isCollected(long chunk) {
        try {
            return !counts.isAlive(chunk);
        } catch (IOException e) {
            log.debug("whether files refer to chunk {} is not known", ChunkId.toString(chunk), e);
            return false;
        }
    }

    private void keep(long key) {
        unrecorded.add(key);
        try {
            recorders.execute(() -> record(key));
        } catch (RejectedExecutionException closing) {
            log.debug("the volume is being closed; the damage of {} is noticed again", FrameId.toString(key));
        }
    }

    private void record(long key) {
        if (!unrecorded.remove(key)) {
            return;
        }
        long container = FrameId.container(key);
        int frame = FrameId.number(key);
        try {
            FrameTable table = containers.frameTable(container);
            if (frame >= table.frames() || table.isRemoved(frame)) {
                return;
            }
            int first = table.firstSlot(frame);
            mark(container, first, first + table.slotCount(frame));
        } catch (IOException | RuntimeException e) {
            unmarked.incrementAndGet();
            log.warn("the damage of container {} is known until unmounting only: {}", container, e.getMessage());
        }
    }

    /** Marks all reported frames in the counts, so that the next commit includes them. */
    void recordAll() {
        List.copyOf(unrecorded).forEach(this::record);
    }

    /**
     * Marks slots {@code first} to {@code end} (exclusive) in the counts, so that no new data refers to them.
     *
     * @return whether any of them was not known to be damaged
     */
    boolean mark(long container, int first, int end) throws IOException {
        changes.lock();
        try {
            return counts.markDamaged(container, first, end);
        } finally {
            changes.unlock();
        }
    }

    /**
     * Returns whether new data must not refer to a chunk. Does not check the damage that the counts record; the counts
     * report that.
     */
    boolean contains(long chunk) {
        try {
            if (!containers.exists(ChunkId.container(chunk))) {
                if (missing.add(ChunkId.container(chunk))) {
                    log.error(
                            "container {} is missing: its content is stored again when it is written again",
                            ChunkId.container(chunk));
                }
                return true;
            }
            if (frames.isEmpty()) {
                return false;
            }
            return frames.contains(FrameId.inContainerOf(chunk, containers.frameOf(chunk)));
        } catch (IOException e) {
            log.warn("chunk {} gets no further references: {}", ChunkId.toString(chunk), e.getMessage());
            return true;
        }
    }

    /** Returns the number of frames found damaged since the volume was opened; at most {@value #MAX_FRAMES}. */
    long found() {
        return frames.size();
    }

    /** Returns the number of {@link #found} frames that the counts do not record: the next mount will not know them. */
    long unmarked() {
        return unmarked.get();
    }

    /** Returns the number of containers found missing since the volume was opened. */
    long missing() {
        return missing.size();
    }
}
