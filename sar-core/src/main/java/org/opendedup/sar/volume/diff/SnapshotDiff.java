package org.opendedup.sar.volume.diff;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.diff.Change.Kind;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;
import org.opendedup.sar.volume.store.CheckFolder;

/**
 * Compares two snapshots, or a snapshot and the present, while the volume is in use. Reads no bytes of files: the time
 * depends on what was changed, and if files were that still have their names, on the number of all names. Takes some 60
 * MB of memory, whatever the volume has and whatever was changed; what is sorted lies on the disk of the metadata, 48
 * bytes for each changed file, name and page. One runs at a time.
 */
public final class SnapshotDiff {
    /** Bytes of what is found that are in memory at once, without their order. */
    private static final int SORT_BYTES = 8 << 20;

    private final VolumeConfig config;
    private final MetadataStore metadata;
    private final VolumeSnapshots snapshots;

    public SnapshotDiff(VolumeConfig config, VolumeContext context) {
        this.config = config;
        metadata = context.metadata();
        snapshots = context.snapshots();
    }

    /**
     * Tells which paths show something else in a second state than in a first one.
     *
     * @param from name of a snapshot
     * @param to name of another one, older or younger; null: the present state, of which this makes a snapshot for the
     *     time of the call
     * @param consumer receives the changes in the order of their paths, or, if they are very many, of inode numbers
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     * @throws PosixException ENOENT; ESTALE: one was deleted meanwhile
     * @throws IOException also if there can be no snapshot of the present; the message says why
     */
    public DiffReport run(String from, @Nullable String to, Progress progress, Change.Consumer consumer)
            throws IOException {
        SnapshotRecord first = snapshots.get(from);
        if (to == null) {
            return snapshots.withPresent(present -> compare(first, present, progress, consumer));
        }
        return compare(first, snapshots.get(to), progress, consumer);
    }

    private DiffReport compare(SnapshotRecord from, SnapshotRecord to, Progress progress, Change.Consumer consumer)
            throws IOException {
        if (from.number() == to.number()) {
            return new DiffReport(0, 0, 0, 0, true);
        }
        try (CheckFolder folder = CheckFolder.forDifference(config.locations().metadata())) {
            Scratch scratch = new Scratch(
                    folder.directory(),
                    () -> folder.requireRoom("48 bytes for each changed file, name and page"),
                    SORT_BYTES,
                    config.keys());
            return compare(new State(metadata, from), new State(metadata, to), scratch, progress, consumer);
        } catch (PosixException e) {
            if (e.reason() == Reason.ESTALE) {
                throw new PosixException(Reason.ESTALE, "one of the snapshots was deleted while they were compared");
            }
            throw e;
        }
    }

    private DiffReport compare(State from, State to, Scratch scratch, Progress progress, Change.Consumer consumer)
            throws IOException {
        try (Found found = new Found(scratch)) {
            new InodeComparison(metadata, from, to, found, progress).run(scratch);
            ChangesByPath sorted = new ChangesByPath(consumer);
            FileChanges changes = new FileChanges(metadata, from, to, progress, sorted);
            changes.run(found.sorted());
            boolean isSorted = sorted.end();
            return new DiffReport(
                    changes.count(Kind.ADDED),
                    changes.count(Kind.DELETED),
                    changes.count(Kind.MODIFIED),
                    changes.count(Kind.RENAMED),
                    isSorted);
        }
    }
}
