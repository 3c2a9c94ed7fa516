package org.opendedup.sar.volume.raw;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.FairShares;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.AbsentRawFolder;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.AnswerLimit;
import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.node.RawPlace;
import org.opendedup.sar.volume.node.RawSpace;
import org.opendedup.sar.volume.node.RawTable;
import org.opendedup.sar.volume.write.UnsavedChanges;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The raw files of a volume: makes them, opens them, and ends them (docs/adr/0050). A file becomes raw at an opening
 * for writing while it is empty, and stops being raw while nobody uses it. So an open file is of one kind from its
 * opening to its closing.
 *
 * <p>A backing file is made before the record that names it, and deleted when the commit without that record is
 * durable. So after a crash there are at most backing files without a record, which {@link #sweep} deletes.
 */
public final class RawFiles {
    private static final Logger log = LoggerFactory.getLogger(RawFiles.class);

    private final MetadataStore metadata;
    private final RawTable table;
    private final RawPlace place;
    private final NodeTable nodes;
    private final Placements placements;
    private final Committer committer;
    private final long maxFiles;
    /** The descriptors for backing files; each opening counts as one. */
    private final FairShares openings;

    private final RawDeletions deletions;
    /** Files whose records say that their backing files may not be durable. */
    private final Queue<RawFile> fresh = new ConcurrentLinkedQueue<>();

    private final Lock syncing = new ReentrantLock();
    private final FailedSyncs failedSyncs = new FailedSyncs();
    /**
     * Whether a file in chunks whose changed bytes are lost becomes what its recipe says; else these bytes cannot be
     * read. Set by the first {@link #dropLostChanges()}.
     */
    private volatile boolean dropsLost;

    /** Whether new files may become raw: set by {@link #setRoom}. */
    private volatile boolean hasRoom;
    /** Number of callers that want nothing new on the fast tier. */
    private final AtomicInteger pauses = new AtomicInteger();

    /**
     * @param maxFiles maximum number of raw files, for the sake of memory
     * @param mostOpen how many may be open at a time, for the sake of descriptors
     */
    public RawFiles(
            MetadataStore metadata,
            RawTable table,
            RawPlace place,
            NodeTable nodes,
            Placements placements,
            Committer committer,
            long maxFiles,
            int mostOpen) {
        this.metadata = metadata;
        this.table = table;
        this.place = place;
        this.nodes = nodes;
        this.placements = placements;
        this.committer = committer;
        this.maxFiles = maxFiles;
        openings = new FairShares("openings of files on the fast tier", mostOpen);
        deletions = new RawDeletions(place, committer);
    }

    public RawFolder folder() {
        return place.folder();
    }

    RawSpace space() {
        return place.space();
    }

    /** Throws if the record of an inode is damaged, so that nobody knows where its bytes are. */
    public void checkReadable(long inode) throws CorruptionException {
        table.checkReadable(inode);
    }

    public boolean isAbsent() {
        return place.folder() instanceof AbsentRawFolder;
    }

    /** Exchanges the folder: the fast tier is there again, or is a new, empty one. */
    public void setFolder(RawFolder present) {
        place.setFolder(present);
    }

    public Collection<RawFile> all() {
        return table.all();
    }

    @Nullable
    RawFile get(long inode) {
        return table.get(inode);
    }

    /** Returns the number of files that lie whole on the fast tier. */
    public long count() {
        return table.size() - table.parts();
    }

    /** Returns the number of files in chunks that have changed bytes on the fast tier. */
    long changedCount() {
        return table.parts();
    }

    /** Lets no file become raw, and no changed bytes go to the fast tier, until {@link #resume}. */
    void pause() {
        pauses.incrementAndGet();
    }

    void resume() {
        pauses.decrementAndGet();
    }

    /** Sets whether new files may become raw. */
    void setRoom(boolean isThere) {
        hasRoom = isThere;
    }

    boolean hasRoom() {
        return hasRoom && pauses.get() == 0 && !isCrowded() && !limit().isHanging();
    }

    /** Returns whether files and ranges of changed bytes on the fast tier take all the memory that they may take. */
    boolean isCrowded() {
        return table.weight() >= maxFiles;
    }

    /** For calls of the fast tier that others must not wait for without end. */
    public AnswerLimit limit() {
        return place.limit();
    }

    /**
     * Called by an opening, which is registered as a user of the node's contents: opens the backing file of a raw file,
     * or makes an empty file raw if it is opened for writing and its placement wants that, unless too many are open.
     *
     * @return the file if it is raw, to be left by {@link #leave}; else null
     * @throws PosixException ENFILE if the file is raw and too many are open
     */
    public @Nullable RawFile enter(Node node, boolean writable, int user) throws IOException {
        table.checkReadable(node.id);
        RawFile raw;
        boolean mayBegin;
        boolean isPinned = false;
        dropLostChanges(node);
        synchronized (node) {
            raw = node.raw;
            mayBegin = node.size == 0 && !table.isOutgrown(node.id);
        }
        if (raw == null) {
            Placement placement = mayBegin && writable && hasRoom() ? placements.of(node) : Placement.SAR;
            if (!placement.isRaw() || !place.space().hasCapacity(user == 0) || !openings.tryTake(user)) {
                return null;
            }
            isPinned = placement == Placement.PIN && (user == 0 || place.space().hasRoomForPins());
        } else {
            openings.take(user);
        }
        RawFile entered = null;
        try {
            entered = raw == null ? begin(node, isPinned) : use(node, raw, writable);
            return entered;
        } finally {
            if (entered == null) {
                openings.giveBack(user);
            }
        }
    }

    private @Nullable RawFile use(Node node, RawFile raw, boolean writable) throws IOException {
        try {
            raw.use(writable);
        } catch (NoSuchFileException e) {
            if (!fallBack(node, raw)) {
                throw new IOException(
                        "the bytes of inode " + node.id + " were only on the fast tier, which does not have them"
                                + " any more: " + e.getMessage(),
                        e);
            }
            return null;
        }
        if (writable) {
            // The bytes that a program writes may be durable before the time of their change: fdatasync(2) forces no
            // times. After a power cut the backing file would look as it was when it was copied.
            record(raw, RawRecord::withOlderCopy);
        }
        raw.noteOpening(System.currentTimeMillis());
        return raw;
    }

    public void leave(RawFile raw, boolean writable, int user) {
        raw.noteAccess(System.currentTimeMillis());
        raw.leave(writable);
        openings.giveBack(user);
    }

    /** Makes an empty file raw. Returns null if it cannot be; it is stored in chunks then. */
    private @Nullable RawFile begin(Node node, boolean isPinned) {
        long number = RawNumbers.first(node.id);
        RandomFile made = null;
        try {
            for (made = create(number); made == null; made = create(number)) {
                number = RawNumbers.next(number);
                if (number == RawNumbers.first(node.id)) {
                    return null;
                }
            }
            // A program that only opens an empty file does not change it.
            made.setModified(node.modifiedNs());
            RandomFile.Status empty = made.status();
            RawRecord record = RawRecord.whole(number, isPinned, true);
            RawFile raw = new RawFile(
                    node.id, record, place, node.account(), System.currentTimeMillis(), committer.generation());
            raw.noteOpening(System.currentTimeMillis());
            if (become(node, raw, made, empty)) {
                fresh.add(raw);
                return raw;
            }
        } catch (IOException e) {
            log.warn("a new file is not stored on the fast tier: {}", e.getMessage());
            hasRoom = false;
        }
        if (made != null) {
            made.close();
            discard(number);
        }
        return null;
    }

    /** Makes a backing file; null if its number is in use. */
    @Nullable
    RandomFile create(long number) throws IOException {
        try {
            return deletions.isRetired(number) ? null : folder().create(number);
        } catch (FileAlreadyExistsException e) {
            return null;
        }
    }

    /** Deletes a backing file that got no record. */
    void discard(long number) {
        deletions.delete(number);
    }

    /** Has a backing file that got no record deleted by the background, for a caller that holds a lock. */
    void discardLater(long number) {
        deletions.add(number);
    }

    private boolean become(Node node, RawFile raw, RandomFile made, RandomFile.Status empty) {
        Node.Contents contents = node.contents();
        // Whoever holds the lock stores, cuts or copies into the file, so it is not to become raw now.
        if (!contents.storing.tryLock()) {
            return false;
        }
        try {
            committer.changes().lock();
            try {
                synchronized (node) {
                    boolean isEmpty = node.size == 0 && node.storedBytes == 0 && node.dataBytes == 0;
                    if (!isEmpty
                            || node.raw != null
                            || node.changed != null
                            || contents.users != 1
                            || contents.cutting
                            || !contents.isClean()) {
                        return false;
                    }
                    raw.begin(made, empty);
                    raw.setAccount(node.account());
                    raw.setRecord(raw.record(), committer.generation());
                    table.put(raw);
                    metadata.raws().put(node.id, raw.record());
                    node.raw = raw;
                    raw.noteFolder(node.folder);
                    return true;
                }
            } finally {
                committer.changes().unlock();
            }
        } finally {
            contents.storing.unlock();
        }
    }

    /**
     * Lets a file be what its recipe says, because the fast tier is there and has lost its backing file. False if the
     * recipe does not have all bytes of an earlier moment, or others use the file. Deletes nothing.
     */
    private boolean fallBack(Node node, RawFile raw) {
        RawRecord.Copy copy = raw.record().copy();
        if (copy == null || !end(node, raw, copy, null, raw.seen(), 1)) {
            return false;
        }
        log.error(
                "the fast tier does not have {} any more; the file is as it was when it was last stored in chunks",
                UnsavedChanges.logged(node.id, metadata, "inode " + node.id));
        return true;
    }

    /** Returns whether the fast tier is there and does not have a backing file. */
    private static boolean isMissing(RawFile file) {
        try {
            return file.status() == null;
        } catch (IOException e) {
            log.debug("the backing file of inode {} cannot be examined", file.inode(), e);
            return false;
        }
    }

    /** As {@link #isMissing}; false if the fast tier does not answer in time. */
    private boolean isMissingInTime(RawFile file) throws IOException {
        try {
            return limit().call("looking for changed bytes", () -> isMissing(file));
        } catch (TimeLimit.ExceededException e) {
            log.debug("whether the fast tier has the changed bytes of inode {} is not known", file.inode(), e);
            return false;
        }
    }

    /**
     * Lets a file in chunks be what its recipe says, if the fast tier is there and has lost the bytes that were changed
     * since.
     */
    private void dropLostChanges(Node node) throws IOException {
        ChangedBytes changed;
        synchronized (node) {
            changed = node.changed;
        }
        if (changed == null || !dropsLost || isAbsent() || limit().isHanging() || !isMissingInTime(changed.file())) {
            return;
        }
        committer.changes().lock();
        try {
            synchronized (node) {
                if (node.changed != changed) {
                    return;
                }
                node.dropChanged(0, Long.MAX_VALUE);
                if (node.contents != null) {
                    node.contents.completions++;
                }
            }
        } finally {
            committer.changes().unlock();
        }
        log.error(
                "the fast tier has lost the bytes of {} that were changed since it was last stored in chunks; it has"
                        + " the older ones, and zeros where there were none",
                UnsavedChanges.logged(node.id, metadata, "inode " + node.id));
    }

    /**
     * Ends that a file is raw: from now on it is what its recipe says. Its backing file, if there is one, is deleted
     * after a commit.
     *
     * @param copy what the recipe has
     * @param status status of the backing file; null if it does not exist
     * @param seen of the file, from before the status was determined
     * @param users number of users that the caller is itself
     * @return false if others use the file, or used it meanwhile; nothing has changed then
     */
    boolean end(
            Node node,
            RawFile raw,
            RawRecord.Copy copy,
            RandomFile.@Nullable Status status,
            RawFile.Seen seen,
            int users) {
        Lock changes = committer.changes();
        changes.lock();
        try {
            synchronized (node) {
                int others = (node.contents == null ? 0 : node.contents.users) - users;
                if (node.raw != raw
                        || node.freed
                        || others > 0
                        || !raw.isAsSeen(seen)
                        || !copy.equals(raw.record().copy())) {
                    return false;
                }
                node.raw = null;
                if (raw.isOutgrown()) {
                    table.noteOutgrown(node.id);
                }
                node.size = copy.size();
                node.storedBytes = copy.size();
                if (status == null) {
                    node.renew();
                } else {
                    node.modifiedNs = status.modifiedNs();
                    node.changedNs = raw.changedNs(status, node.changedNs);
                    deletions.add(raw.number());
                }
                metadata.raws().remove(node.id);
                table.remove(raw);
                // Also of a lost file, which may be found again.
                deletions.retire(raw.number());
            }
            nodes.markDirty(node);
            return true;
        } finally {
            changes.unlock();
        }
    }

    /**
     * Removes the record of an inode that is being freed, or that has no changed bytes on the fast tier any more.
     * Called under the change lock.
     */
    public void forget(long inode) {
        table.forgetOutgrown(inode);
        if (table.forgetUnreadable(inode)) {
            metadata.raws().remove(inode);
        }
        RawFile raw = table.get(inode);
        if (raw != null) {
            metadata.raws().remove(inode);
            table.remove(raw);
            deletions.add(raw.number());
        }
    }

    /** Changes the record of a raw file, atomically. */
    public void record(RawFile raw, UnaryOperator<RawRecord> change) {
        record(raw, change, true);
    }

    /** @param mattersToSync whether an fsync of the file must make the change durable */
    private void record(RawFile raw, UnaryOperator<RawRecord> change, boolean mattersToSync) {
        committer.changes().lock();
        try {
            synchronized (raw) {
                RawRecord record = change.apply(raw.record());
                if (table.get(raw.inode()) == raw && !record.equals(raw.record())) {
                    raw.setRecord(record, mattersToSync ? committer.generation() : raw.generation());
                    metadata.raws().put(raw.inode(), record);
                }
            }
        } finally {
            committer.changes().unlock();
        }
    }

    /** Records that a file got a name, which an fsync must make durable as its record. Called under the change lock. */
    public void noteNamed(RawFile raw) {
        synchronized (raw) {
            raw.setRecord(raw.record(), committer.generation());
        }
    }

    /**
     * Returns whether a commit made the file's names and its record durable, with all changes that matter to an fsync.
     */
    public boolean isRecordDurable(RawFile raw) {
        return committer.isDurable(raw.generation());
    }

    /** Deletes the backing files whose removal from the metadata is durable. */
    public void deleteDead() {
        deletions.run();
    }

    /** Returns whether backing files wait for a commit before they can be deleted. */
    boolean hasDead() {
        return deletions.isWaiting();
    }

    /** Makes the bytes of a raw file durable, if they are not. The next commit says so of its backing file. */
    public void force(Node node, RawFile raw) throws IOException {
        if (!raw.isForced()) {
            raw.force(node::noteFailure);
        }
        noteForced(raw);
    }

    /**
     * Records that the backing file is durable. An fsync does not wait for this: the mount after a crash makes a
     * backing file again only if it is missing, which a durable one is not.
     */
    public void noteForced(RawFile raw) {
        if (raw.record().fresh()) {
            record(raw, RawRecord::withDurable, false);
        }
    }

    /** Whether the metadata are those that knew the volume's stores last. */
    public enum History {
        SAME,
        /** The metadata were restored, or older ones were put back. */
        OLDER,
        /** A crash at the begin of a mount, or a data location that could not be marked, leaves it open. */
        UNKNOWN
    }

    /**
     * Decides what files are whose backing files are missing. A crash may have lost those that were never forced: they
     * are empty. The others are lost, or are what their recipes say.
     *
     * @param isNew whether the fast tier is a new one: it lacks all files, also those that were durable
     * @param history whether the metadata are those that knew it last; older ones may know files that were deleted
     *     since, because their bytes were in chunks
     */
    public void settle(boolean isNew, History history) throws IOException {
        if (isNew || history == History.OLDER) {
            // Else a later mount would make empty files of those that are lost.
            table.all().forEach(this::noteForced);
        } else {
            makeLost();
        }
        if (isNew || history == History.SAME) {
            dropLostChanges();
        }
    }

    /**
     * Makes the backing files again that a crash lost because they were never forced: empty, as they were then as far
     * as it was durable. One that cannot be made now is made by the next call.
     */
    private void makeLost() throws IOException {
        List<RawFile> unforced =
                table.all().stream().filter(raw -> raw.record().fresh()).toList();
        limit().forEach("making lost files again", unforced, raw -> {
            try {
                if (raw.status() == null) {
                    folder().create(raw.number()).close();
                }
            } catch (IOException e) {
                log.warn(
                        "the fast tier has lost inode {}, a new and empty file, which cannot be made again now: {}",
                        raw.inode(),
                        e.getMessage());
                return;
            }
            place.noteWritten();
            fresh.add(raw);
        });
    }

    /**
     * Lets files in chunks be what their recipes say, if the fast tier has lost their changed bytes; from now on each
     * opening does so for its file.
     */
    public void dropLostChanges() throws IOException {
        dropsLost = true;
        List<RawFile> parts = table.all().stream().filter(RawFile::isPart).toList();
        List<RawFile> lost = Collections.synchronizedList(new ArrayList<>());
        limit().forEach("looking for changed bytes", parts, part -> {
            if (isMissing(part)) {
                lost.add(part);
            }
        });
        for (RawFile part : lost) {
            Node node = nodes.pinIfPresent(part.inode());
            if (node != null) {
                try {
                    dropLostChanges(node);
                } finally {
                    nodes.unpin(node);
                }
            }
        }
    }

    private boolean isStray(long number) {
        long inode = RawNumbers.inode(number);
        RawFile raw = table.get(inode);
        return !table.isUnreadable(inode) && (raw == null || raw.number() != number);
    }

    /**
     * Deletes the backing files that no record names: those that a crash left.
     *
     * @return how many there were
     */
    public long sweep() throws IOException {
        List<Long> strays = limit().call("looking for files without a record", () -> {
            Set<Long> parts = table.all().stream()
                    .filter(RawFile::isPart)
                    .map(RawFile::number)
                    .collect(Collectors.toSet());
            List<Long> found = new ArrayList<>();
            folder().forEach(number -> {
                if (RawNumbers.isPart(number) ? !table.hasUnreadable() && !parts.contains(number) : isStray(number)) {
                    found.add(number);
                }
            });
            return found;
        });
        // Before any is deleted: the deletion may end late, when a new file could have got its number.
        strays.forEach(deletions::retire);
        limit().forEach("deleting files without a record", strays, deletions::delete);
        return strays.size();
    }

    /** Does what {@link #syncWritten} does, for work that goes on without it while the fast tier does not answer. */
    public void syncIfAnswering() throws IOException {
        try {
            if (!limit().isHanging()) {
                syncWritten();
            }
        } catch (TimeLimit.ExceededException e) {
            log.debug("the files that were written are made durable when the fast tier answers", e);
        }
    }

    /**
     * Makes durable what was changed on the fast tier before the call. Throws also if an earlier sync failed of which
     * no caller was told: what it was to make durable may be lost.
     */
    public void sync() throws IOException {
        long told = failedSyncs.told();
        Closing steps = new Closing();
        steps.run(this::syncWritten);
        steps.run(() -> failedSyncs.tell(told));
        steps.finish();
    }

    /**
     * Does what {@link #sync} does, for the background. Failures are thrown, also that the fast tier does not answer;
     * the files are tried again by the next call.
     */
    void syncWritten() throws IOException {
        // A caller waits for the sync of another one, which may include what it wrote itself.
        syncing.lock();
        try {
            if (isAbsent() || !place.isWritten()) {
                return;
            }
            limit().check();
            place.takeWritten();
            List<RawFile> made = new ArrayList<>();
            for (RawFile raw = fresh.poll(); raw != null; raw = fresh.poll()) {
                made.add(raw);
            }
            long number = place.beginSync();
            if (table.all().stream().anyMatch(RawFile::hasWriters)) {
                place.noteWritten();
            }
            try {
                // A sync that ends too late is not used: what it may have made durable is synced again.
                limit().call("making written files durable", () -> {
                    sync(number);
                    return number;
                });
            } catch (IOException e) {
                place.noteWritten();
                fresh.addAll(made);
                throw e;
            }
            place.endSync(number);
            made.forEach(this::noteForced);
            deletions.noteSynced();
        } finally {
            syncing.unlock();
        }
    }

    private void sync(long number) throws IOException {
        try {
            folder().sync();
        } catch (IOException e) {
            place.noteSyncFailed(number);
            failedSyncs.note(e);
            throw e;
        }
    }
}
