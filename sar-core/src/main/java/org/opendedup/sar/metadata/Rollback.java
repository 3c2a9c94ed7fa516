package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.versions.StateDifference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the present state of a volume that of a snapshot, by changes as programs make them: each record that differs is
 * put or removed, and the commits keep for newer snapshots what these have (docs/adr/0117). Totals, counts of chunks
 * and what quotas count change in the same commits.
 *
 * <p>Runs while nobody uses the volume. It commits as it goes, so it needs little memory. What differs is found out
 * anew by each run: so one that a crash or a full disk ended is finished by another, or turned to another snapshot.
 */
public final class Rollback {
    private static final Logger log = LoggerFactory.getLogger(Rollback.class);

    private static final String STAGE = "records rolled back";

    /** Bytes that a commit writes for a record besides its value, about: keys of the record, its version and death. */
    private static final int RECORD_BYTES = 150;

    private final MetadataStore metadata;
    private final Overlay overlay;
    private final Namespace namespace;
    private final RecipeStore recipes;
    private final long snapshot;
    private final StateDifference difference;
    /** Heap bytes of pending changes from which on they are committed. */
    private final long stepBytes;

    /** Number of records that were changed. */
    private long changed;

    /** The file that {@link #sizeThen} was asked for last, and its answer. */
    private long sizedInode;

    private long size;

    private Rollback(MetadataStore metadata, long snapshot, long stepBytes) {
        this.metadata = metadata;
        this.snapshot = snapshot;
        this.stepBytes = stepBytes;
        overlay = metadata.overlay();
        namespace = metadata.namespace();
        recipes = metadata.recipes();
        difference = metadata.difference(snapshot, StateDifference.PRESENT);
    }

    /** Receives a record that differs; the values are null if a state has no such record. */
    @FunctionalInterface
    private interface Visitor {
        void visit(byte[] key, byte @Nullable [] now, byte @Nullable [] then) throws IOException;
    }

    /** Visits what differs in value; what was visited and made the same is left out. */
    private void forEach(Family family, Visitor visitor) throws IOException {
        difference.forEachKey(family, key -> {
            byte[] now = overlay.get(family, key);
            byte[] then = overlay.get(family, keyThen(key));
            if (!isSame(now, then)) {
                visitor.visit(key, now, then);
            }
        });
    }

    private byte[] keyThen(byte[] key) {
        return SnapshotIds.withId(key, SnapshotIds.of(snapshot, Keys.longAt(key, 0)));
    }

    private static boolean isSame(byte @Nullable [] now, byte @Nullable [] then) {
        return now == null || then == null ? now == then : Arrays.equals(Births.body(now), Births.body(then));
    }

    // --- what it would do

    /**
     * Returns what a rollback would do, as of the last commit. No change may be made meanwhile.
     *
     * @param snapshot number of a snapshot that exists
     * @throws org.opendedup.sar.common.CorruptionException if a record that differs is damaged
     * @throws PosixException EOPNOTSUPP if a chunk of the snapshot has as many references as can be counted
     */
    public static RollbackEffect effect(MetadataStore metadata, long snapshot) throws IOException {
        return new Rollback(metadata, snapshot, Long.MAX_VALUE).effect();
    }

    private RollbackEffect effect() throws IOException {
        Effect effect = new Effect();
        forEach(Family.INODE, effect::addInode);
        forEach(Family.ENTRY, (key, now, then) -> {
            effect.addRecord(key, now, then);
            if (then != null) {
                Entry.decode(Keys.longAt(key, 0), then);
            }
        });
        forEach(Family.XATTR, (key, now, then) -> {
            effect.addRecord(key, now, then);
            long inode = SnapshotIds.of(snapshot, Keys.longAt(key, 0));
            namespace.attribute(inode, Arrays.copyOfRange(key, Keys.LONG_BYTES, key.length));
        });
        forEach(Family.RECIPE, (key, now, then) -> {
            effect.addRecord(key, now, then);
            requirePage(key, now);
            requireReferable(requirePage(key, then));
        });
        return effect.sum();
    }

    private RecipePage requirePage(byte[] key, byte @Nullable [] value) throws IOException {
        return value == null ? RecipePage.EMPTY : RecipeFormat.decode(key, value, recipes.pageBytes());
    }

    private void requireReferable(RecipePage page) throws IOException {
        if (!metadata.counts().hasRoomFor(page)) {
            throw new PosixException(
                    Reason.EOPNOTSUPP, "a chunk of the snapshot has as many references as can be counted");
        }
    }

    /**
     * Adds up records. A record that both states have is visited twice, as {@link StateDifference#forEachKey} says;
     * these are added up on their own.
     */
    private static final class Effect {
        private long backFiles;
        private long backBytes;
        private long goneFiles;
        private long goneBytes;
        private long changedTwice;
        private long changedBytesTwice;
        private long records;
        private long recordsTwice;
        private long recordBytes;
        private long recordBytesTwice;

        void addRecord(byte[] key, byte @Nullable [] now, byte @Nullable [] then) {
            long bytes = RECORD_BYTES + 2L * key.length + length(now) + length(then);
            if (now != null && then != null) {
                recordsTwice++;
                recordBytesTwice += bytes;
            } else {
                records++;
                recordBytes += bytes;
            }
        }

        private static long length(byte @Nullable [] value) {
            return value == null ? 0 : value.length;
        }

        void addInode(byte[] key, byte @Nullable [] now, byte @Nullable [] then) throws IOException {
            addRecord(key, now, then);
            Inode inodeNow = named(key, now);
            Inode inodeThen = named(key, then);
            if (inodeNow == null && inodeThen != null) {
                backFiles++;
                backBytes += inodeThen.dataBytes();
            } else if (inodeNow != null && inodeThen == null) {
                goneFiles++;
                goneBytes += inodeNow.dataBytes();
            } else if (inodeNow != null && inodeThen != null && !isOnlyAccess(inodeNow, inodeThen)) {
                changedTwice++;
                changedBytesTwice += inodeThen.dataBytes();
            }
        }

        /** Returns an inode that has a name. */
        private static @Nullable Inode named(byte[] key, byte @Nullable [] value) throws IOException {
            Inode inode = value == null ? null : Inode.decode(Keys.longAt(key, 0), value);
            return inode == null || inode.links() == 0 ? null : inode;
        }

        private static boolean isOnlyAccess(Inode now, Inode then) {
            return Arrays.equals(Inode.encode(withoutAccess(now)), Inode.encode(withoutAccess(then)));
        }

        private static Inode withoutAccess(Inode inode) {
            Inode.Times times = inode.times();
            return inode.withTimes(
                    new Inode.Times(times.modifiedNs(), times.modifiedNs(), times.changedNs(), times.createdNs()));
        }

        RollbackEffect sum() {
            return new RollbackEffect(
                    backFiles,
                    backBytes,
                    goneFiles,
                    goneBytes,
                    changedTwice / 2,
                    changedBytesTwice / 2,
                    records + recordsTwice / 2,
                    recordBytes + recordBytesTwice / 2);
        }
    }

    // --- doing it

    /**
     * Finishes the rollback that {@link MetadataStore#rollback} returns, durably; the last commit removes its record.
     * Called while nobody else uses the store, with nothing pending. After a failure the store must be closed.
     *
     * @param stepBytes heap bytes of pending changes from which on they are committed
     * @param progress sees the number of records that were changed; if it stops this, another call goes on
     * @throws PosixException ESTALE if the snapshot does not exist
     */
    public static void finish(MetadataStore metadata, RollbackRecord record, long stepBytes, Progress progress)
            throws IOException {
        new Rollback(metadata, record.snapshot(), stepBytes).run(record, progress);
    }

    private void run(RollbackRecord record, Progress progress) throws IOException {
        // Before anything is removed.
        metadata.snapshots().requireLiving(snapshot);
        String name = metadata.snapshots().textOf(snapshot);
        log.info("rolling the volume back to snapshot {}", name);
        removeIntents();
        removeRaws(record);
        correctOrphans();
        change(Family.INODE, progress, this::changeInode);
        change(Family.ENTRY, progress, (key, now, then) -> put(Family.ENTRY, key, then));
        change(Family.XATTR, progress, (key, now, then) -> put(Family.XATTR, key, then));
        change(Family.RECIPE, progress, this::changePage);
        overlay.remove(Family.SYSTEM, SystemRecords.ROLLBACK);
        commit();
        log.info("rolled the volume back to snapshot {}: {} records were changed", name, changed);
    }

    /** Changes a family. A cursor sees what the database had when it began, whatever is committed meanwhile. */
    private void change(Family family, Progress progress, Visitor visitor) throws IOException {
        commit();
        forEach(family, (key, now, then) -> {
            visitor.visit(key, now, then);
            progress.at(STAGE, ++changed, 0);
            commitIfMany();
        });
    }

    private void commitIfMany() throws IOException {
        if (metadata.pendingBytes() >= stepBytes) {
            commit();
        }
    }

    private void commit() throws IOException {
        metadata.commit(metadata.freeze());
    }

    /** Removes the intent log: a snapshot has none. */
    private void removeIntents() throws IOException {
        try (Cursor cursor = overlay.database().scan(Family.INTENT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                overlay.remove(Family.INTENT, cursor.key());
                commitIfMany();
            }
        }
    }

    /**
     * Removes the records of files on the fast tier whose bytes are not those of their recipes. The opening deletes
     * files there that have no record.
     */
    private void removeRaws(RollbackRecord record) throws IOException {
        try (RecordCursor<RawRecord> raws = metadata.raws().all()) {
            while (raws.next()) {
                RawRecord raw = raws.value();
                boolean isStored = record.keepsFastTier() && raw != null && raw.copy() != null && raw.changed() == null;
                if (!isStored) {
                    metadata.raws().remove(raws.id());
                }
                commitIfMany();
            }
        }
    }

    private void removeRaw(long inode) throws IOException {
        byte[] key = Keys.of(inode);
        if (overlay.get(Family.RAW, key) != null) {
            overlay.remove(Family.RAW, key);
        }
    }

    /**
     * Makes the list of orphans right for what is put back: nothing of that may be freed, except what was an orphan.
     */
    private void correctOrphans() throws IOException {
        try (Cursor cursor = overlay.database().scan(Family.ORPHAN, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long inode = Keys.longAt(cursor.key(), 0);
                namespace.removeOrphan(inode);
                addOrphanThen(inode);
                commitIfMany();
            }
        }
    }

    /** Puts a file of the snapshot on the list of orphans if it had no name, or a tail that was being removed. */
    private void addOrphanThen(long inode) throws IOException {
        byte[] key = Keys.of(inode);
        byte[] value = overlay.get(Family.INODE, keyThen(key));
        if (value == null) {
            return;
        }
        if (Inode.decode(inode, value).links() == 0) {
            namespace.addOrphan(inode, 0);
            return;
        }
        long end = pageBehind(sizeThen(inode));
        long inSnapshot = SnapshotIds.of(snapshot, inode);
        if (recipes.existingPages(inSnapshot, end, Long.MAX_VALUE, 1).length > 0) {
            namespace.addOrphan(inode, end);
        }
    }

    private void changeInode(byte[] key, byte @Nullable [] now, byte @Nullable [] then) throws IOException {
        long id = Keys.longAt(key, 0);
        if (now != null) {
            count(Inode.decode(id, now), -1);
        }
        if (then != null) {
            Inode inode = Inode.decode(id, then);
            count(inode, 1);
            if (inode.links() == 0) {
                namespace.addOrphan(id, 0);
            } else if (inode.isDirectory() && inode.project() != 0 && isTopOfProject(inode)) {
                metadata.quotas().restoreProject(inode.project(), id);
            }
        }
        put(Family.INODE, key, then);
        removeRaw(id);
    }

    private void count(Inode inode, int sign) throws IOException {
        Account account = metadata.account(inode);
        metadata.count(account, sign * inode.dataBytes(), sign);
        // Nothing is accepted that is not stored.
        metadata.quotas().change(account, sign * inode.dataBytes());
    }

    private boolean isTopOfProject(Inode folder) throws IOException {
        if (folder.id() == Inode.ROOT) {
            return true;
        }
        Inode parent = namespace.inode(SnapshotIds.of(snapshot, folder.parent()));
        return parent == null || parent.project() != folder.project();
    }

    private void changePage(byte[] key, byte @Nullable [] now, byte @Nullable [] then) throws IOException {
        long inode = Keys.longAt(key, 0);
        long number = Keys.longAt(key, Keys.LONG_BYTES);
        recipes.replace(inode, number, requirePage(key, then));
        if (then != null && number >= pageBehind(sizeThen(inode))) {
            namespace.addOrphan(inode, pageBehind(sizeThen(inode)));
        }
        removeRaw(inode);
    }

    private void put(Family family, byte[] key, byte @Nullable [] then) {
        if (then == null) {
            overlay.remove(family, key);
        } else {
            overlay.put(family, key, Births.body(then));
        }
    }

    /** Returns the length of a file in the snapshot; 0 if it is not there. */
    private long sizeThen(long inode) throws IOException {
        if (sizedInode != inode) {
            Inode found = namespace.inode(SnapshotIds.of(snapshot, inode));
            size = found == null ? 0 : found.size();
            sizedInode = inode;
        }
        return size;
    }

    /** Returns the number of the first page that has no byte before {@code end}. */
    private long pageBehind(long end) {
        return (end + recipes.pageBytes() - 1) / recipes.pageBytes();
    }
}
