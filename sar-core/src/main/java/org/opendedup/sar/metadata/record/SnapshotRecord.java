package org.opendedup.sar.metadata.record;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Locale;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * A snapshot of a volume: the state of all files at one moment.
 *
 * <p>Its record, in the family {@code system} under {@code snapshot}, a space and the number as 16 hexadecimal digits:
 * a version byte, state (one byte: 0 it exists, 1 it is deleted and what only it had is being freed), whether a
 * schedule made it (one byte, 0 or 1), when it was made and until when it must not be deleted (zigzags, ms since 1970),
 * the first inode number that was free then, logical bytes and files of the volume then (varints), and the name in
 * UTF-8.
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
        long files) {
    private static final int VERSION = 1;
    private static final String PREFIX = "snapshot ";

    /** The first key that a snapshot can have. */
    public static final byte[] FIRST_KEY = PREFIX.getBytes(US_ASCII);

    /** After all keys of snapshots: {@code !} follows the space. */
    public static final byte[] END_KEY = "snapshot!".getBytes(US_ASCII);

    public byte[] key() {
        return String.format(Locale.ROOT, "%s%016x", PREFIX, number).getBytes(US_ASCII);
    }

    public SnapshotRecord heldUntil(long ms) {
        return new SnapshotRecord(number, name, createdMs, ms, isScheduled, isDeleted, firstInode, logicalBytes, files);
    }

    public SnapshotRecord deleted() {
        return new SnapshotRecord(
                number, name, createdMs, heldUntilMs, isScheduled, true, firstInode, logicalBytes, files);
    }

    public byte[] encode() {
        return new ValueWriter(64)
                .writeByte(VERSION)
                .writeByte(isDeleted ? 1 : 0)
                .writeByte(isScheduled ? 1 : 0)
                .writeZigzag(createdMs)
                .writeZigzag(heldUntilMs)
                .writeVarint(firstInode)
                .writeZigzag(logicalBytes)
                .writeZigzag(files)
                .writeBytes(name.getBytes(UTF_8))
                .toBytes();
    }

    public static SnapshotRecord decode(byte[] key, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        String text = new String(key, US_ASCII);
        long number;
        try {
            number = Long.parseLong(text, PREFIX.length(), text.length(), 16);
        } catch (NumberFormatException e) {
            throw new CorruptionException("metadata database", -1, "the number of a snapshot", text);
        }
        ValueReader in = new ValueReader(value, "snapshot", number).expectVersion(VERSION);
        boolean isDeleted = in.readVarint(1) == 1;
        boolean isScheduled = in.readVarint(1) == 1;
        long created = in.readZigzag();
        long heldUntil = in.readZigzag();
        long firstInode = in.readVarint(Long.MAX_VALUE);
        long logicalBytes = in.readZigzag();
        long files = in.readZigzag();
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
                files);
    }
}
