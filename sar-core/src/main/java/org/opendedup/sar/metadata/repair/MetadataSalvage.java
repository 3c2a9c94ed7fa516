package org.opendedup.sar.metadata.repair;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.ValueReader;

/**
 * Makes a new metadata database of the records of a damaged one that can be read (docs/adr/0043). The damaged one is
 * only read. A {@link MetadataRepair} makes the records agree afterwards.
 */
public final class MetadataSalvage {
    /** Numbers that are not used after the highest one that is known: lost records may have had them. */
    private static final long SPARE_NUMBERS = 1 << 16;

    /** Numbers that a former owner can have reserved in a lost log: containers of 4 TiB. */
    private static final long LOST_NUMBERS = 1 << 20;

    private static final byte[] DAMAGED = {0};

    /** Opens older metadata of the same volume. */
    @FunctionalInterface
    public interface OlderMetadata {
        /** Returns the newest backup, which the caller of this method closes; null if there is none. */
        @Nullable
        KeyValueStore open() throws IOException;
    }

    /** Records removed in one batch. */
    private static final int DROPPED_AT_ONCE = 10_000;

    private MetadataSalvage() {}

    /**
     * Copies the records of a database. They are durable with the next commit.
     *
     * @param source folder with its files, which no one else uses
     * @param target an empty database
     * @param older where the records come from that describe the volume, if they are lost
     * @param nowNs times of the root, if it must be made anew, in nanoseconds since 1970
     * @param progress may stop it; the target is of no use then
     * @return what is lost
     * @throws CorruptionException if too much is lost: the manifest; or what describes the volume, and there is no
     *     backup
     */
    public static LostRecords copy(
            Path source, KeyValueStore target, OlderMetadata older, long nowNs, Progress progress) throws IOException {
        SoundRecords[] sound = new SoundRecords[1];
        LostRecords lost = RecordSalvage.copy(
                source,
                target,
                found -> {
                    sound[0] = describe(target, older, found);
                    return sound[0];
                },
                progress);
        markIntents(target, lost);
        if (!lost.of(Family.VERSION).isEmpty() || !lost.of(Family.SYSTEM).isEmpty()) {
            dropSnapshots(target, lost);
        }
        endReceive(target, lost);
        long spare = lost.isEmpty() ? 0 : SPARE_NUMBERS;
        long container =
                Math.max(number(target, SystemRecords.NEXT_CONTAINER), sound[0].highestContainer() + 1 + spare);
        lost.setContainer(container);
        try (Batch batch = target.batch()) {
            long inode = Math.max(number(target, SystemRecords.NEXT_INODE), sound[0].highestInode() + 1 + spare);
            batch.put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(inode));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_CONTAINER, SystemRecords.encodeNumber(container + 1));
            if (sound[0].highestBirth() > 0) {
                long snapshot = Math.max(number(target, SystemRecords.NEXT_SNAPSHOT), sound[0].highestBirth() + 1);
                batch.put(Family.SYSTEM, SystemRecords.NEXT_SNAPSHOT, SystemRecords.encodeNumber(snapshot));
            }
            if (target.get(Family.INODE, Keys.of(Inode.ROOT)) == null) {
                Inode root = LostAndFound.directory(Inode.ROOT, Inode.ROOT, nowNs);
                batch.put(Family.INODE, Keys.of(Inode.ROOT), Inode.encode(root));
                lost.say("owner, mode and times of the volume's root");
            }
            batch.commitLater();
        }
        return lost;
    }

    /**
     * Skips numbers of containers and inodes after those that are known: a former owner may have reserved them in what
     * is lost, and still have packs of such numbers. Durable when it returns.
     *
     * @param metadata of a volume in an object store, as its records are read and written
     */
    public static void skipLostNumbers(KeyValueStore metadata) throws IOException {
        try (Batch batch = metadata.batch()) {
            for (byte[] key : List.of(SystemRecords.NEXT_CONTAINER, SystemRecords.NEXT_INODE)) {
                long next = SystemRecords.decodeNumber(StoredRecords.system(metadata, key));
                batch.put(Family.SYSTEM, key, SystemRecords.encodeNumber(next + LOST_NUMBERS));
            }
            batch.commit();
        }
    }

    private static SoundRecords describe(KeyValueStore target, OlderMetadata older, LostRecords lost)
            throws IOException {
        if (!lost.of(Family.SYSTEM).isEmpty()) {
            takeDescription(target, older);
        }
        MetadataHeader header = SystemRecords.decodeHeader(StoredRecords.system(target, SystemRecords.HEADER));
        header.require(MetadataHeader.Contents.FILES);
        return new SoundRecords(
                header.pageBytes(),
                SystemRecords.decodeNameHash(StoredRecords.system(target, SystemRecords.NAME_HASH)));
    }

    /**
     * Takes lost records that describe the volume from a backup. They never change, except that each mount adds one for
     * its epoch: a missing one only means that what was stored in it counts as another history's.
     */
    private static void takeDescription(KeyValueStore target, OlderMetadata older) throws IOException {
        try (KeyValueStore backup = older.open()) {
            if (backup != null) {
                takeDescription(target, backup);
            }
        }
        if (target.get(Family.SYSTEM, SystemRecords.HEADER) == null
                || target.get(Family.SYSTEM, SystemRecords.NAME_HASH) == null
                || !hasEpoch(target)) {
            throw new CorruptionException(
                    "metadata database",
                    -1,
                    "the records that describe the volume, here or in a backup",
                    "damaged ones; bring back another copy of the metadata");
        }
    }

    private static void takeDescription(KeyValueStore target, KeyValueStore backup) throws IOException {
        try (Cursor cursor = backup.scan(Family.SYSTEM, Keys.FIRST, Keys.END);
                Batch batch = target.batch()) {
            while (cursor.next()) {
                if (target.get(Family.SYSTEM, cursor.key()) == null && cursor.value() != ValueReader.CHANGED) {
                    batch.put(Family.SYSTEM, cursor.key(), cursor.value());
                }
            }
            batch.commitLater();
        }
    }

    private static boolean hasEpoch(KeyValueStore target) throws IOException {
        try (Cursor cursor = target.scan(Family.SYSTEM, "epoch ".getBytes(US_ASCII), "epoch!".getBytes(US_ASCII))) {
            return cursor.next();
        }
    }

    /**
     * Makes records of the intent log that may be missing noticeable. One that is missing between others is noticed by
     * the numbers, but one after the last is not: it may have said that the bytes of earlier ones are stored, and by
     * now newer ones, over which a mount would put the old ones. So a record that cannot be decoded takes its place:
     * the file cannot be opened until a repair removes its records.
     */
    static void markIntents(KeyValueStore target, LostRecords lost) throws IOException {
        if (lost.of(Family.INTENT).isEmpty()) {
            return;
        }
        try (Cursor cursor = target.scan(Family.INTENT, Keys.FIRST, Keys.END);
                Batch batch = target.batch()) {
            long inode = 0;
            long number = 0;
            boolean isLast = false;
            while (!isLast) {
                isLast = !cursor.next();
                byte[] key = isLast ? Keys.END : cursor.key();
                if (inode != 0 && (isLast || Keys.longAt(key, 0) != inode)) {
                    markLast(batch, lost, inode, number + 1);
                }
                if (!isLast) {
                    inode = Keys.longAt(key, 0);
                    number = key.length < 2 * Keys.LONG_BYTES ? 0 : Keys.longAt(key, Keys.LONG_BYTES);
                }
            }
            batch.commitLater();
        }
    }

    /**
     * Removes all snapshots. One that lacks a version would show an older or a younger state of a file, or zeros; one
     * whose own record is lost would never be freed.
     */
    private static void dropSnapshots(KeyValueStore target, LostRecords lost) throws IOException {
        boolean hadSome = drop(target, Family.SYSTEM, SnapshotRecord.KEYS.first(), SnapshotRecord.KEYS.end());
        hadSome |= drop(target, Family.VERSION, Keys.FIRST, Keys.END);
        drop(target, Family.DEATH, Keys.FIRST, Keys.END);
        if (hadSome) {
            lost.say("all snapshots, because records that they need are lost");
        }
        if (target.get(Family.SYSTEM, SystemRecords.ROLLBACK) != null) {
            // Its snapshot is gone, so nothing could finish it, or open the volume.
            remove(target, SystemRecords.ROLLBACK);
            lost.say("a rollback that was not finished, because its snapshot is lost: some files are as in the"
                    + " snapshot, and the others as before the rollback");
        }
    }

    /**
     * Ends that a snapshot is being received, as giving it up does, except that the files stay as they are. Going on
     * would be wrong: a repair takes out names that lead to what the stream has not brought yet.
     */
    private static void endReceive(KeyValueStore target, LostRecords lost) throws IOException {
        byte[] value = target.get(Family.SYSTEM, SystemRecords.REPLICA);
        ReplicaRecord replica = value == null ? null : ReplicaRecord.decode(value);
        if (replica == null || replica.underWay() == null) {
            return;
        }
        if (replica.received() == null) {
            remove(target, SystemRecords.REPLICA);
        } else {
            try (Batch batch = target.batch()) {
                batch.put(
                        Family.SYSTEM, SystemRecords.REPLICA, replica.with(null).encode());
                batch.commitLater();
            }
        }
        lost.say("that a snapshot of another volume was being received: some files are as in that snapshot, and the"
                + " others as before. "
                + (replica.received() == null
                        ? "Receive it into a new volume"
                        : "'receive --discard-changes' gives up what was received of it"));
    }

    private static void remove(KeyValueStore target, byte[] key) throws IOException {
        try (Batch batch = target.batch()) {
            batch.delete(Family.SYSTEM, key);
            batch.commitLater();
        }
    }

    private static boolean drop(KeyValueStore target, Family family, byte[] from, byte[] to) throws IOException {
        boolean isEmpty = true;
        try (Cursor cursor = target.scan(family, from, to)) {
            boolean isAhead = cursor.next();
            while (isAhead) {
                isEmpty = false;
                try (Batch batch = target.batch()) {
                    for (int i = 0; i < DROPPED_AT_ONCE && isAhead; i++) {
                        batch.delete(family, cursor.key());
                        isAhead = cursor.next();
                    }
                    batch.commitLater();
                }
            }
        }
        return !isEmpty;
    }

    private static void markLast(Batch batch, LostRecords lost, long inode, long next) throws IOException {
        byte[] key = Keys.of(inode, next);
        if (lost.contains(Family.INTENT, key)) {
            batch.put(Family.INTENT, key, DAMAGED);
            lost.say("perhaps the last of the bytes of inode " + inode
                    + " that were written within the last seconds; it cannot be opened until sdfs-check --repair"
                    + " gives these bytes up");
        }
    }

    /** Makes a file one that cannot be opened until a repair removes its records of the intent log. */
    static byte[] unopenable() {
        return DAMAGED.clone();
    }

    private static long number(KeyValueStore target, byte[] key) throws IOException {
        byte[] value = target.get(Family.SYSTEM, key);
        try {
            return value == null ? 0 : SystemRecords.decodeNumber(value);
        } catch (CorruptionException e) {
            return 0;
        }
    }
}
