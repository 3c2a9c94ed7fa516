package org.opendedup.sar.metadata.versions;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The snapshots of a volume, in memory. Reads may run at any time from any thread. The caller makes changes with all
 * changes of metadata excluded, and puts the records into the pending generation.
 */
public final class Snapshots {
    /** Added to a number to get a cookie: smaller ones have other meanings. */
    private static final int FIRST_COOKIE = 16;

    private static final int FOLDER_MODE = Modes.DIRECTORY | 0555;

    /** Those that exist, by number. */
    private final NavigableMap<Long, SnapshotRecord> living = new ConcurrentSkipListMap<>();
    /** Those that readers see: they exist, and the commit that has them is durable. */
    private final Map<String, Long> visible = new ConcurrentHashMap<>();
    /** Those that are deleted, durably, and have versions yet, by number. */
    private final NavigableMap<Long, SnapshotRecord> deleted = new ConcurrentSkipListMap<>();

    private volatile long next;
    private volatile long changedMs;

    private Snapshots(long next) {
        this.next = next;
    }

    /** Returns the snapshots of a volume that has and gets none. */
    public static Snapshots none() {
        return new Snapshots(0);
    }

    /** Reads the snapshots of a database. */
    public static Snapshots open(KeyValueStore database) throws IOException {
        byte[] stored = database.get(Family.SYSTEM, SystemRecords.NEXT_SNAPSHOT);
        Snapshots snapshots = new Snapshots(stored == null ? 0 : SystemRecords.decodeNumber(stored));
        try (Cursor cursor = database.scan(Family.SYSTEM, SnapshotRecord.KEYS.first(), SnapshotRecord.KEYS.end())) {
            while (cursor.next()) {
                SnapshotRecord record = SnapshotRecord.decode(cursor.key(), cursor.value());
                (record.isDeleted() ? snapshots.deleted : snapshots.living).put(record.number(), record);
                snapshots.changedMs = Math.max(snapshots.changedMs, record.createdMs());
            }
        }
        snapshots.living.values().forEach(snapshots::show);
        return snapshots;
    }

    /** Returns the birth of what is written now: the number of the next snapshot; 0 before the first one. */
    public long birth() {
        return next;
    }

    /** Returns the number that the next snapshot gets. */
    public long nextNumber() {
        return Math.max(1, next);
    }

    /** Returns the number of the newest snapshot: records that were born by then must be kept. 0 if there is none. */
    public long newest() {
        Map.Entry<Long, SnapshotRecord> last = living.lastEntry();
        return last == null ? 0 : last.getKey();
    }

    /** Returns the first inode number that no snapshot has. */
    public long firstFreeInode() {
        Map.Entry<Long, SnapshotRecord> last = living.lastEntry();
        return last == null ? 0 : last.getValue().firstInode();
    }

    /** Notes a new snapshot, which readers see after {@link #show}. */
    public void created(SnapshotRecord record) {
        living.put(record.number(), record);
        next = record.number() + 1;
    }

    /**
     * Shows readers a snapshot that was created, or has a deleted one freed; its commit is durable. Before, this commit
     * may still move versions that nothing but the deleted snapshot has.
     */
    public void show(SnapshotRecord record) {
        if (record.isDeleted()) {
            deleted.put(record.number(), record);
            return;
        }
        if (!living.containsKey(record.number())) {
            return; // deleted before anybody saw it
        }
        visible.put(record.name(), record.number());
        noteChange(record.createdMs());
    }

    /** Replaces the record of a snapshot that exists. */
    public void changed(SnapshotRecord record) {
        living.put(record.number(), record);
    }

    /** Notes that a snapshot is deleted. Later reads of it fail with ESTALE. */
    public void deleted(SnapshotRecord record, long nowMs) {
        visible.remove(record.name(), record.number());
        living.remove(record.number());
        noteChange(nowMs);
    }

    /** A listing that the kernel keeps is valid as long as the time stays the same: each change makes it later. */
    private synchronized void noteChange(long nowMs) {
        changedMs = Math.max(changedMs + 1, nowMs);
    }

    /** Notes that what only a deleted snapshot had is freed. */
    public void freed(long number) {
        deleted.remove(number);
    }

    /** Returns those that are deleted, durably, and of which versions remain, in ascending order of numbers. */
    public List<SnapshotRecord> deleted() {
        return List.copyOf(deleted.values());
    }

    /** Returns the number of the newest snapshot before {@code number}; 0 if there is none. */
    public long before(long number) {
        Long found = living.lowerKey(number);
        return found == null ? 0 : found;
    }

    /** Returns the number of the oldest snapshot after {@code number}; that of the next one if there is none. */
    public long after(long number) {
        Long found = living.higherKey(number);
        return found == null ? next : found;
    }

    /**
     * Returns whether a snapshot has what was born and died then: one that exists, or one that is deleted and whose
     * versions are being freed.
     */
    public boolean haveVersion(long birth, long death) {
        return hasNumber(living, birth, death) || hasNumber(deleted, birth, death);
    }

    private static boolean hasNumber(NavigableMap<Long, SnapshotRecord> of, long birth, long death) {
        Long first = of.ceilingKey(birth);
        return first != null && first < death;
    }

    /** Returns the snapshot of a name; null if readers see none. */
    public @Nullable SnapshotRecord find(String name) {
        Long number = visible.get(name);
        return number == null ? null : living.get(number);
    }

    /**
     * Returns the generation of an inode. That of one in a snapshot depends on when the snapshot was made: after the
     * metadata were restored from a backup, the number of a snapshot that was made after the backup is used again.
     *
     * @param generation of the inode's record
     */
    public long generation(long id, long generation) {
        SnapshotRecord snapshot = SnapshotIds.isInSnapshot(id) ? living.get(SnapshotIds.snapshot(id)) : null;
        return snapshot == null ? generation : generation + snapshot.createdMs() & Integer.MAX_VALUE;
    }

    /** Returns until when any snapshot is held, in milliseconds since 1970; 0 if none ever was. */
    public long heldUntilMs() {
        return living.values().stream()
                .mapToLong(SnapshotRecord::heldUntilMs)
                .max()
                .orElse(0);
    }

    /** Returns whether a name is taken, also by a snapshot that is not durable yet. */
    public boolean isTaken(String name) {
        return living.values().stream().anyMatch(record -> record.name().equals(name));
    }

    /** Returns those that readers see, in ascending order of numbers. */
    public List<SnapshotRecord> list() {
        Collection<SnapshotRecord> all = living.values();
        return all.stream().filter(this::isVisible).toList();
    }

    private boolean isVisible(SnapshotRecord record) {
        Long number = visible.get(record.name());
        return number != null && number == record.number();
    }

    /** Checks that a snapshot exists. Whoever read something of it before this call read the right thing. ESTALE. */
    public void requireLiving(long number) throws PosixException {
        if (!living.containsKey(number)) {
            throw new PosixException(Reason.ESTALE, "snapshot " + number + " is deleted");
        }
    }

    // --- the folder of the snapshots

    /** Returns the inode of the folder of the snapshots. */
    public Inode folder() {
        long ns = changedMs * 1_000_000;
        return Inode.of(SnapshotIds.FOLDER, FOLDER_MODE, Inode.Times.ofCreation(ns))
                // One, as Btrfs has for every directory: the number of its folders is not counted.
                .withLinks(1)
                .withParent(Inode.ROOT);
    }

    /** Returns the root directory of a snapshot; 0 if there is none of this name. */
    public long root(byte[] name) {
        SnapshotRecord found = find(new String(name, UTF_8));
        return found == null ? 0 : SnapshotIds.of(found.number(), Inode.ROOT);
    }

    /** Receives the entries of the folder; see {@link #forEachEntry}. */
    @FunctionalInterface
    public interface EntryConsumer {
        /** @return whether the listing goes on */
        boolean accept(byte[] name, long root, long cookie) throws IOException;
    }

    /** Lists the folder in the order of numbers, after the entry with this cookie; 0 lists all. */
    public void forEachEntry(long cookie, EntryConsumer consumer) throws IOException {
        for (SnapshotRecord record :
                living.tailMap(cookie - FIRST_COOKIE, false).values()) {
            long number = record.number();
            byte[] name = record.name().getBytes(UTF_8);
            if (isVisible(record)
                    && !consumer.accept(name, SnapshotIds.of(number, Inode.ROOT), number + FIRST_COOKIE)) {
                return;
            }
        }
    }

    /** Returns the name of a snapshot for a message, in quotes; its number if there is none. */
    public String textOf(long number) {
        SnapshotRecord record = living.get(number);
        return record == null ? Long.toString(number) : "'" + text(record) + "'";
    }

    /** Returns the name of a snapshot for a message. */
    public static String text(SnapshotRecord record) {
        return EntryNames.text(record.name().getBytes(UTF_8));
    }
}
