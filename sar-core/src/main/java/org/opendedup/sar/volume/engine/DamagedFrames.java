package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.DamageRecords;
import org.opendedup.sar.metadata.counts.NewDamage;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.restore.frame.DamageListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frames that were found damaged. They are not deleted, but no new data may refer to them, so that writing the same
 * content again stores a new copy. A report has effect immediately. The next commit makes it durable with the counts,
 * so that the next mount knows it too.
 */
public final class DamagedFrames implements DamageListener, NewDamage {
    private static final Logger log = LoggerFactory.getLogger(DamagedFrames.class);
    /**
     * Maximum number of frames remembered. A disk with more of them is failing anyway, and each further one is found
     * again when it is read.
     */
    private static final int MAX_FRAMES = 100_000;

    /** Maximum number of places that are remembered until there is somebody to tell. */
    private static final int MAX_EARLY = 1000;

    /** Represents a slot that its container does not have. */
    private static final int NO_FRAME = ChunkId.MAX_SLOTS - 1;

    private final ContainerStore containers;
    private final ReferenceCounts counts;
    private final DamageRecords records;
    private final Lock changes;
    private final Executor recorders;
    private final Set<Long> frames = ConcurrentHashMap.newKeySet();
    /** Frames, as {@link FrameId}s, that are not marked in the counts yet. */
    private final Map<Long, DamageNote> unrecorded = new ConcurrentHashMap<>();
    /** Chunks whose place is not known, and that are not marked in the counts yet. */
    private final Map<Long, DamageNote> unplaced = new ConcurrentHashMap<>();

    /** Told about new damage; null until it is set. Guarded by {@link #early}. */
    private @Nullable DamageWatch watch;
    /** What was found before the watch was set; what has no place is told by the list of damage. Guarded by itself. */
    private final List<Consumer<DamageWatch>> early = new ArrayList<>();

    private final Set<Long> missing = ConcurrentHashMap.newKeySet();
    /** Number of frames whose damage could not be marked in the counts. */
    private final AtomicLong unmarked = new AtomicLong();
    /** Number of chunks that were healed. */
    private final AtomicLong healed = new AtomicLong();
    /** The packs that are missing, as of the last look. */
    private volatile List<Long> missingPacks = List.of();
    /** Whether one of them is being looked for. */
    private final AtomicBoolean looking = new AtomicBoolean();
    /** Number of looks for one of them. Changed by the look that is under way. */
    private volatile int looks;
    /** Number of containers in these packs. */
    private volatile long missingInPacks;

    private volatile LongConsumer listener = container -> {};

    /**
     * @param changes lock that is held shared while counts change
     * @param recorders runs tasks that wait for that lock, because the reporting thread may hold other locks
     */
    public DamagedFrames(ContainerStore containers, MetadataStore metadata, Lock changes, Executor recorders) {
        this.containers = containers;
        counts = metadata.counts();
        records = metadata.damage();
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
        report(inode, ChunkId.of(container, 0), frame, cause, isCollected(container, frame));
    }

    @Override
    public void damagedChunk(long inode, long chunk, int frame, IOException cause) {
        report(inode, chunk, frame, cause, isCollected(chunk));
    }

    /** Tells a watch about all damage that is new since the volume was opened; replaces the previous watch. */
    public void watchedBy(DamageWatch toTell) {
        synchronized (early) {
            watch = toTell;
            early.forEach(news -> news.accept(toTell));
            early.clear();
        }
    }

    private void tell(Consumer<DamageWatch> news) {
        synchronized (early) {
            if (watch != null) {
                news.accept(watch);
            } else if (early.size() < MAX_EARLY) {
                early.add(news);
            }
        }
    }

    /** @param chunk the wanted chunk; any of the container if the frame is known */
    private void report(long inode, long chunk, int frame, IOException cause, boolean isCollected) {
        long container = ChunkId.container(chunk);
        if (NoAnswer.is(cause)) {
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
        if (Causes.include(cause, NoSuchFileException.class)) {
            // The pack may come back, and marks would stay.
            if (missing.add(container)) {
                keep(this::noteMissingPacks);
            }
            return;
        }
        long key = FrameId.of(container, frame < 0 ? NO_FRAME : frame);
        boolean isNew = frames.size() < MAX_FRAMES && frames.add(key);
        if (isNew) {
            log.debug("container {}, frame {}, wanted by inode {}, cannot be read", container, frame, inode, cause);
            DamageNote note = DamageNote.now(Math.max(frame, DamageNote.NO_FRAME), How.READ, text(cause));
            if (frame >= 0) {
                unrecorded.put(key, note);
                keep(() -> record(key));
            } else {
                keepUnplaced(chunk, note);
            }
        }
    }

    @Override
    public void found(long container, int firstSlot, int endSlot, How how, IOException why) throws IOException {
        int frame = DamageNote.NO_FRAME;
        if (hasDirectory(container)) {
            FrameTable table = containers.frameTable(container);
            int first = table.frameOf(firstSlot);
            boolean isFrame = first >= 0
                    && table.firstSlot(first) == firstSlot
                    && table.firstSlot(first) + table.slotCount(first) == endSlot;
            frame = isFrame ? first : DamageNote.NO_FRAME;
        }
        found(container, DamageNote.now(frame, how, text(why)), firstSlot, endSlot);
    }

    @Override
    public void suspected(long container) {
        listener.accept(container);
    }

    /** Sets who is told of each container of which chunks were newly found damaged; must not wait. */
    public void listen(LongConsumer toTell) {
        listener = toTell;
    }

    /**
     * Records that slots which were known to be damaged have the right bytes, and counts them. Only a pass of healing
     * may do that: with the last mark of a container its former places go.
     */
    public void healed(long container, BitSet slots) throws IOException {
        markSound(container, slots);
        healed.addAndGet(slots.cardinality());
    }

    /** Returns the number of chunks healed since the volume was opened. */
    public long healedChunks() {
        return healed.get();
    }

    private void markSound(long container, BitSet slots) throws IOException {
        changes.lock();
        try {
            counts.markSound(container, slots);
        } finally {
            changes.unlock();
        }
        FrameTable table = containers.frameTable(container);
        slots.stream().forEach(slot -> frames.remove(FrameId.of(container, table.frameOf(slot))));
        frames.remove(FrameId.of(container, NO_FRAME));
        missing.remove(container);
    }

    /**
     * Records what a scrub found damaged: slots {@code first} to {@code end} (exclusive), which are a frame, or a whole
     * container without one.
     *
     * @param frame the frame's number, or -1
     */
    public void found(long container, int frame, int first, int end, IOException cause) throws IOException {
        found(container, DamageNote.now(frame, How.SCRUB, text(cause)), first, end);
    }

    private void found(long container, DamageNote note, int first, int end) throws IOException {
        boolean isNew = mark(container, first, end, note);
        if (note.frame() >= 0 && frames.size() < MAX_FRAMES) {
            isNew |= frames.add(FrameId.of(container, note.frame()));
        }
        if (isNew) {
            tell(of -> of.found(container, note));
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

    private void keep(Runnable recording) {
        try {
            recorders.execute(recording);
        } catch (RejectedExecutionException closing) {
            log.debug("the volume is being closed: damage is recorded when all files are stored");
        }
    }

    private void keepUnplaced(long chunk, DamageNote note) {
        if (unplaced.size() < MAX_FRAMES) {
            unplaced.put(chunk, note);
            keep(() -> recordUnplaced(chunk));
        }
    }

    private static String text(IOException cause) {
        String message = cause.getMessage();
        return message == null ? cause.toString() : message;
    }

    private void record(long key) {
        DamageNote note = unrecorded.remove(key);
        if (note == null) {
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
            mark(container, first, first + table.slotCount(frame), note);
            tell(of -> of.found(container, note));
        } catch (IOException | RuntimeException e) {
            cannotRecord(container, note, e);
        }
    }

    private void cannotRecord(long container, DamageNote note, Exception why) {
        unmarked.incrementAndGet();
        log.warn("the damage of container {} is known until unmounting only: {}", container, why.getMessage());
        tell(of -> of.found(container, note));
    }

    /**
     * Marks a chunk that is in no frame. If its container is missing, or has no directory that can be read, marks all
     * its chunks; if the whole pack is missing, records that instead, because it may come back.
     */
    private void recordUnplaced(long chunk) {
        DamageNote note = unplaced.remove(chunk);
        if (note == null) {
            return;
        }
        long container = ChunkId.container(chunk);
        try {
            if (containers.hasEntry(container) && !containers.exists(container)) {
                noteMissingPacks();
                return;
            }
            // A lost chunk of a healed container was marked when it was written.
            boolean isNew = hasDirectory(container)
                    ? mark(container, ChunkId.slot(chunk), ChunkId.slot(chunk) + 1, note)
                    : mark(container, 0, counts.slots(container), note);
            if (isNew) {
                tell(of -> of.found(container, note));
            }
        } catch (IOException | RuntimeException e) {
            cannotRecord(container, note, e);
        }
    }

    private boolean hasDirectory(long container) throws IOException {
        try {
            FrameTable table = containers.frameTable(container);
            return table.frames() >= 0;
        } catch (CorruptionException e) {
            return false;
        }
    }

    /** Records which packs are missing now, and tells the watch about new ones. To be called with no lock held. */
    public void noteMissingPacks() {
        try {
            SortedMap<Long, Long> now = containers.missingPacks();
            changes.lock();
            List<Long> found;
            try {
                found = records.noteMissingPacks(now, System.currentTimeMillis());
            } finally {
                changes.unlock();
            }
            missing.removeIf(container -> !isMissing(container));
            missingPacks = List.copyOf(now.keySet());
            missingInPacks = now.values().stream().mapToLong(Long::longValue).sum();
            found.forEach(pack -> tell(of -> of.foundMissing(pack, now.getOrDefault(pack, 0L))));
        } catch (IOException | RuntimeException e) {
            log.warn("it is not known whether packs are missing: {}", e.getMessage());
        }
    }

    /**
     * Returns whether a container is still needed, and its pack is not there. It may have been put back, and the
     * container may have been written elsewhere, or removed with the last file that used it.
     */
    private boolean isMissing(long container) {
        try {
            return containers.isMissing(container);
        } catch (IOException e) {
            log.debug("whether container {} is missing is not known", container, e);
            return true;
        }
    }

    /**
     * Looks in the background whether one of the missing packs was put back, another one each time. Does nothing if
     * none is missing.
     */
    void lookForMissing() {
        if (missing() > 0 && !looking.getAndSet(true)) {
            keep(() -> {
                List<Long> packs = missingPacks;
                if (packs.isEmpty() || isBack(packs.get(Math.floorMod(looks++, packs.size())))) {
                    noteMissingPacks();
                }
                looking.set(false);
            });
        }
    }

    private boolean isBack(long pack) {
        try {
            return containers.hasPack(pack);
        } catch (IOException e) {
            log.debug("whether pack {} is missing is not known", pack, e);
            return false;
        }
    }

    /** Records which packs are missing, and marks what others lack at their ends. To be called with no lock held. */
    public void lookAtPacks() {
        noteMissingPacks();
        try {
            IOException why = new IOException("the pack ends before its last byte");
            containers.forEachCutOff((container, first, end) -> found(container, first, end, How.MOUNT, why));
        } catch (IOException | RuntimeException e) {
            log.warn("it is not known whether packs were cut short: {}", e.getMessage());
        }
    }

    /** As {@link #lookAtPacks}, in the background. */
    public void lookAtPacksSoon() {
        keep(this::lookAtPacks);
    }

    /** Marks what opening the containers did not find, and records where healing looks for it. */
    void noteLost() throws IOException {
        containers.forEachLost((container, first, end) -> {
            DamageNote note = DamageNote.now(DamageNote.NO_FRAME, How.MOUNT, "not found in what a crash left");
            if (mark(container, first, end, note)) {
                tell(of -> of.found(container, note));
            }
        });
        changes.lock();
        try {
            containers.forEachHalfRead(records.former()::add);
        } finally {
            changes.unlock();
        }
    }

    /** Marks all reported frames in the counts, so that the next commit includes them. */
    public void recordAll() {
        List.copyOf(unrecorded.keySet()).forEach(this::record);
        List.copyOf(unplaced.keySet()).forEach(this::recordUnplaced);
    }

    /** Ends the watch, and marks all reported frames. */
    void close() {
        try {
            recordAll();
        } finally {
            DamageWatch toClose;
            synchronized (early) {
                toClose = watch;
            }
            if (toClose != null) {
                // It may wait for a list of files; who finds damage meanwhile must not.
                toClose.close();
            }
        }
    }

    /**
     * Marks slots {@code first} to {@code end} (exclusive) in the counts, so that no new data refers to them.
     *
     * @return whether any of them was not known to be damaged
     */
    private boolean mark(long container, int first, int end, DamageNote note) throws IOException {
        boolean isNew;
        changes.lock();
        try {
            isNew = counts.markDamaged(container, first, end, note);
        } finally {
            changes.unlock();
        }
        if (isNew) {
            listener.accept(container);
        }
        return isNew;
    }

    /**
     * Returns whether new data must not refer to a chunk. Does not check the damage that the counts record; the counts
     * report that.
     */
    public boolean contains(long chunk) {
        try {
            if (!containers.exists(ChunkId.container(chunk))) {
                if (containers.hasEntry(ChunkId.container(chunk))) {
                    // A writer stores the content again: the container may be healed with it.
                    listener.accept(ChunkId.container(chunk));
                }
                if (missing.add(ChunkId.container(chunk))) {
                    keepUnplaced(chunk, DamageNote.now(DamageNote.NO_FRAME, How.READ, "the container is missing"));
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
    public long found() {
        return frames.size();
    }

    /** Returns the number of {@link #found} frames that the counts do not record: the next mount will not know them. */
    long unmarked() {
        return unmarked.get();
    }

    /** Returns the number of containers that were found missing, and are not known to be there again. */
    public long missing() {
        return Math.max(missing.size(), missingInPacks);
    }

    /** Returns the number of packs that were missing at the last look. */
    public int missingPacks() {
        return missingPacks.size();
    }
}
