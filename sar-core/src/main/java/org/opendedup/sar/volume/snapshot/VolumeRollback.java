package org.opendedup.sar.volume.snapshot;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Rollback;
import org.opendedup.sar.metadata.RollbackEffect;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.UnmountedStores;
import org.opendedup.sar.volume.write.FileCommits;

/**
 * Rolls a volume back to a snapshot, in two parts (docs/adr/0117). This is the first: it asks for the rollback, by a
 * record. The second is made by the next opening, whoever opens the volume, before anything is served: so a rollback
 * that a crash ends is finished by the same code. All snapshots stay, also newer ones. Only what was changed since the
 * newest snapshot can be lost, and is not if a snapshot is made before.
 */
public final class VolumeRollback {
    private final MetadataStore metadata;
    private final VolumeSnapshots snapshots;
    private final FileCommits commits;
    private final Committer committer;

    public VolumeRollback(MetadataStore metadata, VolumeSnapshots snapshots, FileCommits commits) {
        this.metadata = metadata;
        this.snapshots = snapshots;
        this.commits = commits;
        committer = commits.committer();
    }

    /**
     * Returns what a rollback would do. What was changed only on the fast tier counts as it was stored in chunks last.
     * No program may use the volume meanwhile. ENOENT.
     *
     * @throws org.opendedup.sar.common.CorruptionException if a record that differs is damaged: a rollback would fail
     */
    public RollbackEffect effect(String name) throws IOException {
        SnapshotRecord to = snapshots.get(name);
        if (!committer.isReadOnly()) {
            commits.storeAll();
        }
        return committed(to);
    }

    private RollbackEffect committed(SnapshotRecord to) throws IOException {
        committer.commit();
        return Rollback.effect(metadata, to.number());
    }

    /**
     * Asks for a rollback, durably, and makes a snapshot of the present state first. The caller closes the volume at
     * once, and opens it: the opening rolls back. What programs change until then is in no snapshot. ENOENT, EROFS.
     *
     * @param before name of the snapshot that is made first; null: none is made, so what was changed since the newest
     *     snapshot is lost, also bytes that are only on the fast tier
     * @return what the rollback does; if it is none, no snapshot was made, unless the fast tier had bytes of its own
     * @throws PosixException EEXIST, EBUSY if that snapshot cannot be made; the volume stays as it is
     * @throws org.opendedup.sar.common.NoSpaceException if there is no room for the metadata of the rollback; the
     *     volume stays as it is, except that the snapshot may be made
     * @throws org.opendedup.sar.common.CorruptionException if a record that differs is damaged; the same
     */
    public RollbackEffect begin(String name, @Nullable String before) throws IOException {
        committer.checkWritable();
        SnapshotRecord to = snapshots.get(name);
        if (before != null) {
            commits.storeAll();
        }
        RollbackEffect effect = committed(to);
        boolean wasInChunks = snapshots.isAllInChunks();
        // A snapshot is not made only because files were read.
        boolean isSame = before == null ? effect.records() == 0 : effect.isNone();
        if (isSame && wasInChunks) {
            return effect;
        }
        committer.checkRoom(effect.recordBytes());
        if (before != null) {
            snapshots.create(before, 0, false);
            if (!wasInChunks) {
                effect = Rollback.effect(metadata, to.number());
                committer.checkRoom(effect.recordBytes());
            }
        }
        committer.commitWith(() -> metadata.putRollback(new RollbackRecord(to.number(), before != null)));
        return effect;
    }

    /**
     * Turns an unfinished rollback of a volume that is not open to another snapshot, such as the one that was made
     * before it: the next opening goes there from the state that it finds. So a rollback is abandoned.
     *
     * @return false if no rollback is unfinished; nothing is changed then
     * @throws PosixException ENOENT if there is no such snapshot
     */
    public static boolean turn(VolumeConfig config, String name) throws IOException {
        try (UnmountedStores stores = UnmountedStores.change(config)) {
            KeyValueStore database = stores.metadata();
            byte[] stored = database.get(Family.SYSTEM, SystemRecords.ROLLBACK);
            if (stored == null) {
                return false;
            }
            SnapshotRecord to = Snapshots.open(database).find(name);
            if (to == null) {
                throw new PosixException(Reason.ENOENT, "there is no snapshot '" + name + "'");
            }
            RollbackRecord turned = new RollbackRecord(
                    to.number(), RollbackRecord.decode(stored).keepsFastTier());
            try (Batch batch = database.batch()) {
                batch.put(Family.SYSTEM, SystemRecords.ROLLBACK, turned.encode());
                batch.commit();
            }
            return true;
        }
    }
}
