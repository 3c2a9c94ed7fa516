package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * A rollback that is not finished: the next opening of the volume makes its state that of the snapshot, before anything
 * else is served.
 *
 * <p>Its record, in the family {@code system} under {@code rollback}: a version byte, the number of the snapshot (a
 * varint), and whether the fast tier is kept (one byte, 0 or 1).
 *
 * @param snapshot number of the snapshot
 * @param keepsFastTier whether all bytes on the fast tier were stored in chunks when the rollback began, so that files
 *     which are the same in the snapshot stay there
 */
public record RollbackRecord(long snapshot, boolean keepsFastTier) {
    private static final int VERSION = 1;

    public byte[] encode() {
        return new ValueWriter(11)
                .writeByte(VERSION)
                .writeVarint(snapshot)
                .writeByte(keepsFastTier ? 1 : 0)
                .toBytes();
    }

    public static RollbackRecord decode(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "rollback, format", VERSION).expectVersion(VERSION);
        long snapshot = in.readVarint(SnapshotIds.MAX_SNAPSHOT);
        boolean keepsFastTier = in.readVarint(1) == 1;
        in.expectEnd();
        return new RollbackRecord(snapshot, keepsFastTier);
    }
}
