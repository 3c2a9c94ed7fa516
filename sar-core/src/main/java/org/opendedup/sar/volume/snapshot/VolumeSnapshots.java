package org.opendedup.sar.volume.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.VersionRelease;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.volume.commit.Committer;
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
    /** Attempts to find a moment at which no bytes are in the intent log. */
    private static final int ATTEMPTS = 8;

    private static final long PAUSE_MS = 200;

    private final MetadataStore metadata;
    private final Snapshots snapshots;
    private final Path metadataFolder;
    private final FileCommits commits;
    private final Committer committer;
    private final NodeTable nodes;
    private final FastTier fastTier;
    private final InstantSource clock;
    private final ExecutorService background;
    private volatile boolean closing;

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
        background = Executors.newSingleThreadExecutor(Threads.named(config.name() + "-snapshots"));
    }

    /** Returns the snapshots in the order in which they were made. */
    public List<SnapshotRecord> list() {
        return snapshots.list();
    }

    /** Returns the number of deleted snapshots of which something is not freed yet. */
    public int beingFreed() {
        return snapshots.deleted().size();
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
     * Makes a snapshot, durably. EEXIST, EINVAL (a name that a file cannot have), ENOSPC, EROFS.
     *
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     * @param isScheduled whether a schedule makes it
     */
    public synchronized SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled) throws IOException {
        if (!EntryNames.isValid(bytes(name))) {
            throw new PosixException(Reason.EINVAL, "'" + EntryNames.text(bytes(name)) + "' can't be a name");
        }
        if (snapshots.isTaken(name)) {
            throw new PosixException(
                    Reason.EEXIST, "there is a snapshot '" + EntryNames.text(bytes(name)) + "' already");
        }
        if (snapshots.nextNumber() > SnapshotIds.MAX_SNAPSHOT) {
            throw new PosixException(Reason.ENOSPC, "the volume has had as many snapshots as it can count");
        }
        committer.checkWritable();
        HeldUntil.note(metadataFolder, heldUntilMs);
        // A snapshot has neither an intent log nor a fast tier: its bytes are in chunks.
        commits.writer().intents().pause();
        fastTier.pause();
        try {
            return cut(name, heldUntilMs, isScheduled);
        } finally {
            fastTier.resume();
            commits.writer().intents().resume();
        }
    }

    private SnapshotRecord cut(String name, long heldUntilMs, boolean isScheduled) throws IOException {
        SnapshotRecord[] made = new SnapshotRecord[1];
        for (int attempt = 0; attempt < ATTEMPTS && made[0] == null; attempt++) {
            storeInChunks();
            commits.storeAll();
            committer.commitWith(() -> {
                if (commits.writer().intents().bytes() == 0 && fastTier.isAllInChunks()) {
                    made[0] = metadata.createSnapshot(name, clock.millis(), heldUntilMs, isScheduled);
                }
            });
        }
        if (made[0] == null) {
            throw new IOException("bytes of some files cannot be stored in chunks now");
        }
        noteChange();
        return made[0];
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
     * Returns the bytes of chunks, before compression, that deleting these snapshots would free, and all others between
     * them. Exact: commits first what is pending, because a commit makes the versions that they have. ENOENT.
     *
     * @param first the older one
     * @param last the younger one, or the same
     */
    public long bytesFreedBy(String first, String last) throws IOException {
        if (metadata.pendingBytes() > 0) {
            committer.commit();
        }
        return metadata.recipes()
                .bytesBetween(
                        snapshots.before(get(first).number()),
                        snapshots.after(get(last).number()));
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
        committer.changes().lock();
        try {
            metadata.holdSnapshot(record, untilMs);
        } finally {
            committer.changes().unlock();
        }
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

    /** Goes on to free what only deleted snapshots have, in the background. */
    public void freeDeleted() {
        try {
            background.execute(this::freeLogging);
        } catch (RejectedExecutionException e) {
            log.debug("the volume is being closed; deleted snapshots are freed after the next mount", e);
        }
    }

    /** Returns what is done when everything is freed that only snapshots deleted before the call had. */
    public CompletableFuture<Void> freed() {
        try {
            return CompletableFuture.runAsync(() -> {}, background);
        } catch (RejectedExecutionException e) {
            log.debug("the volume is being closed", e);
            return CompletableFuture.completedFuture(null);
        }
    }

    private void freeLogging() {
        try {
            while (!closing && freeNext()) {}
            if (!closing && committer.isShort()) {
                pause();
                freeDeleted();
            }
        } catch (NoSpaceException e) {
            log.debug("deleted snapshots are freed when there is space: {}", e.getMessage());
            pause();
            freeDeleted();
        } catch (IOException | RuntimeException e) {
            log.error("deleted snapshots could not be freed; it is tried again after the next mount", e);
        }
    }

    private void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
                if (closing) {
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

    private interface Change {
        void run() throws IOException;
    }

    private void change(Change change) throws IOException {
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
        closing = true;
        background.shutdown();
        try {
            background.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
