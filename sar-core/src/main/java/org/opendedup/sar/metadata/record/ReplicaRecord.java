package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * That a volume is a replica: it receives the snapshots of another volume, and changes in no other way.
 *
 * <p>Its record, in the family {@code system} under {@code replica}: a version byte, whether a snapshot was received
 * (one byte, 0 or 1) and its identity, whether one is being received (one byte, 0 or 1), and of that: whether it has a
 * base (one byte, 0 or 1) and its identity, the identity of the target, and the position: inode and page (varints). An
 * identity has the UUID of the volume (two 8-byte numbers, upper half first), the number of the snapshot (varint), and
 * when it was made (zigzag, ms since 1970).
 *
 * @param received the newest snapshot that was received; null before the first one
 * @param underWay what is being received; null: the files are those of {@link #received}
 */
public record ReplicaRecord(
        @Nullable SnapshotIdentity received, @Nullable UnderWay underWay) {
    private static final int VERSION = 1;

    /**
     * A snapshot that is being received: some files are those of the base, and some are those of the target.
     *
     * @param base the snapshot from which the stream leads to the target; null: from nothing
     * @param target the snapshot that is received
     * @param inode all that the stream says of lower inodes is applied
     * @param page the pages of the inode below this one are those of the target
     */
    public record UnderWay(@Nullable SnapshotIdentity base, SnapshotIdentity target, long inode, long page) {}

    /** Returns this record while a snapshot is received. */
    public ReplicaRecord with(@Nullable UnderWay now) {
        return new ReplicaRecord(received, now);
    }

    public byte[] encode() {
        ValueWriter out = new ValueWriter(64).writeByte(VERSION);
        write(out, received);
        out.writeByte(underWay == null ? 0 : 1);
        if (underWay != null) {
            write(out, underWay.base);
            underWay.target.write(out);
            out.writeVarint(underWay.inode).writeVarint(underWay.page);
        }
        return out.toBytes();
    }

    private static void write(ValueWriter out, @Nullable SnapshotIdentity identity) {
        out.writeByte(identity == null ? 0 : 1);
        if (identity != null) {
            identity.write(out);
        }
    }

    public static ReplicaRecord decode(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "record of a replica, format", VERSION).expectVersion(VERSION);
        SnapshotIdentity received = read(in);
        UnderWay underWay = null;
        if (in.readVarint(1) == 1) {
            SnapshotIdentity base = read(in);
            SnapshotIdentity target = SnapshotIdentity.read(in);
            long inode = in.readVarint(SnapshotIds.MAX_INODE);
            underWay = new UnderWay(base, target, inode, in.readVarint(Long.MAX_VALUE));
        }
        in.expectEnd();
        return new ReplicaRecord(received, underWay);
    }

    private static @Nullable SnapshotIdentity read(ValueReader in) throws CorruptionException {
        return in.readVarint(1) == 1 ? SnapshotIdentity.read(in) : null;
    }
}
