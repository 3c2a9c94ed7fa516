package org.opendedup.sar.metadata.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * A snapshot of a volume: the state of all files at one moment.
 *
 * <p>Its record, in the family {@code system} under {@link #KEYS}: a version byte, state (one byte: 0 it exists, 1 it
 * is deleted and what only it had is being freed), whether a schedule made it (one byte, 0 or 1), when it was made and
 * until when it must not be deleted (zigzags, ms since 1970), the first inode number that was free then (varint),
 * logical bytes and files of the volume then (zigzags), whether it was received (one byte, 0 or 1) and then its
 * {@link SnapshotIdentity}, and the name in UTF-8.
 *
 * @param number rises with each snapshot; never used again
 * @param name a name that {@link EntryNames} allows
 * @param createdMs when it was made, in milliseconds since 1970
 * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
 * @param isScheduled whether a schedule made it
 * @param isDeleted whether it is deleted, and what only it had is being freed
 * @param firstInode no inode from this number on is in it
 * @param logicalBytes bytes of the files of the volume that are in chunks, as {@link Totals} counts them
 * @param files number of inodes of the volume
 * @param origin the snapshot of another volume that it is a copy of; null: it was made here
 */
public record SnapshotRecord(
        long number,
        String name,
        long createdMs,
        long heldUntilMs,
        boolean isScheduled,
        boolean isDeleted,
        long firstInode,
        long logicalBytes,
        long files,
        @Nullable SnapshotIdentity origin) {
    private static final int VERSION = 2;

    /** The keys of the records of all snapshots. */
    public static final NumberedKeys KEYS = new NumberedKeys("snapshot", "a snapshot");

    /** A snapshot that was made in its volume. */
    public SnapshotRecord(
            long number,
            String name,
            long createdMs,
            long heldUntilMs,
            boolean isScheduled,
            boolean isDeleted,
            long firstInode,
            long logicalBytes,
            long files) {
        this(number, name, createdMs, heldUntilMs, isScheduled, isDeleted, firstInode, logicalBytes, files, null);
    }

    /**
     * Returns what names this snapshot in all volumes that have it.
     *
     * @param volume the volume that it is in
     */
    public SnapshotIdentity identity(UUID volume) {
        return origin == null ? new SnapshotIdentity(volume, number, createdMs) : origin;
    }

    public byte[] key() {
        return KEYS.of(number);
    }

    public SnapshotRecord heldUntil(long ms) {
        return new SnapshotRecord(
                number, name, createdMs, ms, isScheduled, isDeleted, firstInode, logicalBytes, files, origin);
    }

    public SnapshotRecord deleted() {
        return new SnapshotRecord(
                number, name, createdMs, heldUntilMs, isScheduled, true, firstInode, logicalBytes, files, origin);
    }

    public byte[] encode() {
        ValueWriter out = new ValueWriter(64)
                .writeByte(VERSION)
                .writeByte(isDeleted ? 1 : 0)
                .writeByte(isScheduled ? 1 : 0)
                .writeZigzag(createdMs)
                .writeZigzag(heldUntilMs)
                .writeVarint(firstInode)
                .writeZigzag(logicalBytes)
                .writeZigzag(files)
                .writeByte(origin == null ? 0 : 1);
        if (origin != null) {
            origin.write(out);
        }
        return out.writeBytes(name.getBytes(UTF_8)).toBytes();
    }

    public static SnapshotRecord decode(byte[] key, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        long number = KEYS.number(key);
        ValueReader in = new ValueReader(value, "snapshot", number).expectVersion(VERSION);
        boolean isDeleted = in.readVarint(1) == 1;
        boolean isScheduled = in.readVarint(1) == 1;
        long created = in.readZigzag();
        long heldUntil = in.readZigzag();
        long firstInode = in.readVarint(Long.MAX_VALUE);
        long logicalBytes = in.readZigzag();
        long files = in.readZigzag();
        SnapshotIdentity origin = in.readVarint(1) == 1 ? SnapshotIdentity.read(in) : null;
        byte[] name = in.readBytes(in.remaining());
        if (!EntryNames.isValid(name) || number < 1 || number > SnapshotIds.MAX_SNAPSHOT) {
            throw in.corruption("a number and a name of a snapshot", EntryNames.text(name));
        }
        return new SnapshotRecord(
                number,
                new String(name, UTF_8),
                created,
                heldUntil,
                isScheduled,
                isDeleted,
                firstInode,
                logicalBytes,
                files,
                origin);
    }
}
