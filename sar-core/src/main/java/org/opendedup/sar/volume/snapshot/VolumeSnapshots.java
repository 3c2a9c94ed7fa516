package org.opendedup.sar.volume.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.VersionRelease;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.volume.commit.BackgroundWork;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.write.FileCommits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of an open volume. A snapshot is what a mount would find after a power cut at its moment: everything
 * that was written before the call is in it. It costs one commit, whatever the size of the volume. Its files are read
 * through the folder {@code .snapshots} of the root directory, with inode numbers of their own. Safe for use by many
 * threads.
 */
public final class VolumeSnapshots implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VolumeSnapshots.class);
    /** Bytes of metadata that a snapshot takes when it is made, at most. */
    private static final int RECORD_BYTES = 1024;

    /** Attempts to find a moment at which no bytes are in the intent log. */
    private static final int ATTEMPTS = 8;

    /** Stands between the first and the last one where a range of snapshots is named, so no name has it. */
    public static final String RANGE = "%";

    /** Pauses after a failure to free, of which each is twice as long as the one before it, in milliseconds. */
    private static final long FIRST_RETRY_MS = 1000;

    private static final long LAST_RETRY_MS = 3_600_000;

    private final MetadataStore metadata;
    private final Snapshots snapshots;
    private final Path metadataFolder;
    private final FileCommits commits;
    private final Committer committer;
    private final NodeTable nodes;
    private final FastTier fastTier;
    private final InstantSource clock;
    private final BackgroundWork background;
    /** Of the background thread. */
    private long retryMs = FIRST_RETRY_MS;

    public VolumeSnapshots(
            MetadataStore metadata,
            FileCommits commits,
            NodeTable nodes,
            FastTier fastTier,
            InstantSource clock,
            VolumeConfig config) {
        this.metadata = metadata;
        metadataFolder = config.locations().metadata();
        this.commits = commits;
        this.nodes = nodes;
        this.fastTier = fastTier;
        this.clock = clock;
        snapshots = metadata.snapshots();
        committer = commits.committer();
        background = new BackgroundWork(committer, config.name() + "-snapshots");
    }

    /** Returns the snapshots in the order in which they were made. */
    public List<SnapshotRecord> list() {
        return snapshots.list();
    }

    /** Returns the number of deleted snapshots of which something is not freed yet. */
    public int beingFreed() {
        return snapshots.deleted().size();
    }

    /** Returns whether the volume receives those of another one, and programs do not change its files. */
    public boolean isReplica() throws IOException {
        return metadata.replica() != null;
    }

    /** Returns a snapshot. ENOENT. */
    public SnapshotRecord get(String name) throws PosixException {
        SnapshotRecord found = snapshots.find(name);
        if (found == null) {
            throw new PosixException(Reason.ENOENT, "there is no snapshot '" + EntryNames.text(bytes(name)) + "'");
        }
        return found;
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    /**
     * Makes a snapshot, durably. EEXIST, EINVAL (a name that a file cannot have, or with {@link #RANGE}), ENOSPC,
     * EROFS. After a failure there is no snapshot of this name, and none appears later, unless the power fails before
     * the next commit.
     *
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     * @param isScheduled whether a schedule makes it
     */
    public synchronized SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled) throws IOException {
        if (!EntryNames.isValid(bytes(name))) {
            throw new PosixException(Reason.EINVAL, "'" + EntryNames.text(bytes(name)) + "' can't be a name");
        }
        if (name.contains(RANGE)) {
            throw new PosixException(
                    Reason.EINVAL,
                    "'" + EntryNames.text(bytes(name)) + "' can't be the name of a snapshot: " + RANGE
                            + " stands between the first and the last one of a range");
        }
        if (snapshots.isTaken(name)) {
            throw new PosixException(
                    Reason.EEXIST, "there is a snapshot '" + EntryNames.text(bytes(name)) + "' already");
        }
        requirePossible();
        long heldBefore = HeldUntil.of(metadataFolder);
        HeldUntil.note(metadataFolder, heldUntilMs);
        SnapshotRecord made;
        try {
            made = make(() -> metadata.createSnapshot(name, clock.millis(), heldUntilMs, isScheduled));
        } catch (IOException | RuntimeException e) {
            Closing.after(e, () -> HeldUntil.restore(metadataFolder, heldBefore));
            throw e;
        }
        noteChange();
        return made;
    }

    /** Does something with a snapshot. */
    @FunctionalInterface
    public interface Use<T> {
        T with(SnapshotRecord snapshot) throws IOException;
    }

    /**
     * Does something with a snapshot of the present state that nobody sees, and that ends with it, or with the volume.
     *
     * @throws IOException also if none can be made; the message says why
     */
    public <T> T withPresent(Use<T> use) throws IOException {
        SnapshotRecord present;
        try {
            present = createUnseen();
        } catch (IOException e) {
            throw new IOException("there can be no snapshot of the present state: " + e.getMessage(), e);
        }
        try {
            return use.with(present);
        } finally {
            end(present);
        }
    }

    /**
     * Ends a snapshot that nobody sees, also while changes are refused: else the volume would keep what later changes
     * replace until it is closed. This needs not be durable: what is stored says that the snapshot is deleted.
     */
    private synchronized void end(SnapshotRecord unseen) throws IOException {
        change(() -> metadata.deleteSnapshot(unseen, clock.millis()));
        try {
            committer.commit();
        } catch (IOException e) {
            log.debug("what only snapshot {} had is freed when the volume takes changes again", unseen.number(), e);
        } finally {
            noteChange();
            freeDeleted();
        }
    }

    private synchronized SnapshotRecord createUnseen() throws IOException {
        requirePossible();
        return make(() -> metadata.createUnseenSnapshot(clock.millis()));
    }

    private void requirePossible() throws IOException {
        if (snapshots.nextNumber() > SnapshotIds.MAX_SNAPSHOT) {
            throw new PosixException(Reason.ENOSPC, "the volume has had as many snapshots as it can count");
        }
        committer.checkWritable();
        committer.checkRoom(RECORD_BYTES);
    }

    private interface Cut {
        SnapshotRecord make() throws IOException;
    }

    /** Makes a snapshot in a commit. After a failure there is none. */
    private SnapshotRecord make(Cut cut) throws IOException {
        // A snapshot has neither an intent log nor a fast tier: its bytes are in chunks.
        commits.writer().intents().pause();
        fastTier.pause();
        SnapshotRecord[] made = new SnapshotRecord[1];
        try {
            commit(cut, made);
            return made[0];
        } catch (IOException | RuntimeException e) {
            Closing.after(e, () -> undo(made));
            throw e;
        } finally {
            fastTier.resume();
            commits.writer().intents().resume();
        }
    }

    /**
     * Makes a snapshot of the present files, durably, that is a copy of one of another volume. Nobody uses the files.
     *
     * @param origin that snapshot; it has the time when the snapshot was made
     * @param last a change that is made together with the snapshot
     */
    public synchronized void createCopy(
            String name, long heldUntilMs, boolean isScheduled, SnapshotIdentity origin, Closing.Step last)
            throws IOException {
        committer.checkWritable();
        HeldUntil.note(metadataFolder, heldUntilMs);
        committer.commitWith(() -> {
            metadata.createSnapshot(name, origin.createdMs(), heldUntilMs, isScheduled, origin);
            last.run();
        });
        noteChange();
    }

    private void commit(Cut cut, SnapshotRecord[] made) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS && made[0] == null; attempt++) {
            storeInChunks();
            commits.storeAll();
            committer.commitWith(() -> {
                if (commits.writer().intents().bytes() == 0 && fastTier.isAllInChunks()) {
                    made[0] = cut.make();
                }
            });
        }
        if (made[0] == null) {
            throw new IOException("bytes of some files cannot be stored in chunks now");
        }
    }

    /**
     * Deletes a snapshot that was made, and whose commit failed: that commit is tried again when there is space, or
     * with the next resume, and the deletion follows in the same call.
     */
    private void undo(SnapshotRecord[] made) throws IOException {
        // A commit of another thread may have taken the change: it has made it once the lock is free.
        change(() -> {
            if (made[0] != null) {
                metadata.deleteSnapshot(made[0], clock.millis());
            }
        });
        if (made[0] != null) {
            noteChange();
            freeDeleted();
        }
    }

    /** Stores what would not be in a snapshot. EBUSY. */
    private void storeInChunks() throws IOException {
        long busy = fastTier.storeAll();
        if (busy > 0) {
            throw new PosixException(
                    Reason.EBUSY,
                    busy + " files on the fast tier are open for writing, and a snapshot has only what is in chunks:"
                            + " close them first");
        }
        if (commits.writer().intents().hasUnreadable()) {
            throw new IOException(
                    "the intent log of some files cannot be read, and a snapshot would not have their bytes");
        }
    }

    /**
     * Returns the bytes of chunks, before compression, that deleting these snapshots together would free. That is more
     * than the sum of what each one alone would: the others keep what several of them have. Exact: commits first what
     * is pending, because a commit makes the versions that they have. ENOENT.
     *
     * @param names in any order
     * @throws InterruptedIOException if {@code progress} stopped it, or the volume is being closed
     */
    public long bytesFreedBy(Collection<String> names, Progress progress) throws IOException {
        if (metadata.pendingBytes() > 0) {
            committer.commit();
        }
        SortedSet<Long> numbers = new TreeSet<>();
        for (String name : names) {
            numbers.add(get(name).number());
        }
        return metadata.recipes().bytesFreedBy(numbers, snapshots, (stage, done, of) -> {
            if (background.isClosing()) {
                throw new InterruptedIOException("the volume is being closed");
            }
            progress.at(stage, done, of);
        });
    }

    /** Returns whether recipes have all bytes of all files. */
    boolean isAllInChunks() {
        return commits.writer().intents().bytes() == 0
                && !commits.writer().intents().hasUnreadable()
                && fastTier.isAllInChunks();
    }

    /** Sets the times of the folder, whose node the kernel may hold. */
    private void noteChange() throws IOException {
        Node node = nodes.pinIfPresent(SnapshotIds.FOLDER);
        if (node != null) {
            long now = snapshots.folder().times().modifiedNs();
            synchronized (node) {
                node.modifiedNs = now;
                node.changedNs = now;
            }
            nodes.unpin(node);
        }
    }

    /**
     * Changes until when a snapshot must not be deleted, durably: to a later time only. EPERM.
     *
     * @param untilMs in milliseconds since 1970
     */
    public synchronized SnapshotRecord hold(String name, long untilMs) throws IOException {
        SnapshotRecord record = get(name);
        if (untilMs < record.heldUntilMs()) {
            throw new PosixException(
                    Reason.EPERM,
                    "snapshot '" + name + "' is held until " + Instant.ofEpochMilli(record.heldUntilMs())
                            + ", which cannot be shortened");
        }
        committer.checkWritable();
        HeldUntil.note(metadataFolder, untilMs);
        change(() -> metadata.holdSnapshot(record, untilMs));
        committer.commit();
        return get(name);
    }

    /**
     * Deletes a snapshot, durably. What only it had is freed in the background. Programs that read it get ESTALE.
     * ENOENT, EPERM (it is held), EROFS.
     */
    public synchronized void delete(String name) throws IOException {
        SnapshotRecord record = get(name);
        if (record.heldUntilMs() > clock.millis()) {
            throw new PosixException(
                    Reason.EPERM,
                    "snapshot '" + name + "' is held until " + Instant.ofEpochMilli(record.heldUntilMs())
                            + " and must not be deleted before");
        }
        committer.checkNotFailed();
        try {
            committer.commitWith(() -> metadata.deleteSnapshot(record, clock.millis()));
        } finally {
            // Also of a commit that waits for space: the deletion becomes durable with it.
            noteChange();
            freeDeleted();
        }
    }

    /**
     * Notes until when snapshots are held: their records came from a backup, or from another machine, perhaps. A
     * failure is logged only.
     */
    public void noteHeld() {
        try {
            HeldUntil.note(metadataFolder, snapshots.heldUntilMs());
        } catch (IOException e) {
            log.warn("that a snapshot is held is not noted for the removal of the volume: {}", e.getMessage());
        }
    }

    /** Goes on to free what only deleted snapshots have, in the background. */
    public void freeDeleted() {
        background.add(this::freeLogging);
    }

    /** Returns what is done when everything is freed that only snapshots deleted before the call had. */
    public CompletableFuture<Void> freed() {
        return background.done();
    }

    private void freeLogging() {
        boolean waits = false;
        // Asked before what is freed is looked for: a volume that resumes takes changes before the commit that makes
        // the deletion durable.
        boolean isDeleting = metadata.isDeletingSnapshot();
        try {
            while (!background.isClosing() && freeNext()) {}
            retryMs = FIRST_RETRY_MS;
        } catch (NoSpaceException e) {
            log.debug("deleted snapshots are freed when there is space: {}", e.getMessage());
            waits = true;
        } catch (IOException e) {
            waits = !committer.isAccepting();
            if (!waits) {
                log.error("deleted snapshots could not be freed; it is tried again in {} s", retryMs / 1000, e);
                background.addAfter(retryMs, this::freeLogging);
                retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
            }
        } catch (RuntimeException e) {
            log.error("deleted snapshots could not be freed; it is tried again after the next mount", e);
            return;
        }
        // A deletion whose commit waits, or failed, is freed when the volume takes changes again.
        if (waits || isDeleting || !committer.isAccepting()) {
            background.addAgain(this::freeLogging);
        }
    }

    /** Frees what lies between two snapshots that exist. Returns false if there is nothing to free. */
    private boolean freeNext() throws IOException {
        List<SnapshotRecord> deleted = snapshots.deleted();
        if (deleted.isEmpty()) {
            return false;
        }
        long before = snapshots.before(deleted.get(0).number());
        long after = snapshots.after(deleted.get(0).number());
        try (VersionRelease release = metadata.recipes().release(before, after)) {
            while (freeStep(release)) {
                if (background.isClosing()) {
                    return false;
                }
            }
        }
        change(() -> deleted.stream().filter(record -> record.number() < after).forEach(metadata::forgetSnapshot));
        return true;
    }

    private boolean freeStep(VersionRelease release) throws IOException {
        committer.checkWritable();
        Lock versions = metadata.recipes().versionLock();
        versions.lock();
        try {
            boolean isLoaded = release.load();
            if (isLoaded) {
                change(release::free);
            }
            return isLoaded;
        } finally {
            versions.unlock();
        }
    }

    private void change(Closing.Step change) throws IOException {
        committer.changes().lock();
        try {
            change.run();
        } finally {
            committer.changes().unlock();
        }
    }

    /** Ends the freeing; the next mount goes on with it. */
    @Override
    public void close() {
        background.close();
    }
}
