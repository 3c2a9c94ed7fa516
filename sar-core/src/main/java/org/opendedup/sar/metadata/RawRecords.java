package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecordChecksum;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;

/**
 * The records of raw files: which files lie whole on the fast tier (docs/adr/0050). Changes belong to the pending
 * generation like any other. The caller holds the change lock.
 */
public final class RawRecords {
    private static final int VERSION = 1;
    private static final String KIND = "raw file";
    private static final int PINNED = 1;
    private static final int COPIED = 2;
    private static final int FRESH = 4;

    private final Overlay overlay;

    RawRecords(Overlay overlay) {
        this.overlay = overlay;
    }

    public void put(long inode, RawRecord record) {
        overlay.put(Family.RAW, Keys.of(inode), encode(inode, record));
    }

    public void remove(long inode) {
        overlay.remove(Family.RAW, Keys.of(inode));
    }

    /** Returns all records in the order of inode numbers. */
    public RecordCursor<RawRecord> all() throws IOException {
        return cursor(overlay.scan(Family.RAW, Keys.FIRST, Keys.END));
    }

    static RecordCursor<RawRecord> cursor(Cursor cursor) {
        return new RecordCursor<>(cursor, Keys.LONG_BYTES, (key, value) -> decode(Keys.longAt(key, 0), value));
    }

    public static byte[] encode(long inode, RawRecord record) {
        RawRecord.Copy copy = record.copy();
        ValueWriter out = new ValueWriter(32)
                .writeByte(VERSION)
                .writeByte((record.pinned() ? PINNED : 0) | (copy == null ? 0 : COPIED) | (record.fresh() ? FRESH : 0))
                .writeVarint(record.number());
        if (copy != null) {
            out.writeVarint(copy.size()).writeZigzag(copy.changedNs());
        }
        return out.writeIntLittleEndian(RecordChecksum.of(Keys.of(inode), out.buffer(), out.length()))
                .toBytes();
    }

    public static RawRecord decode(long inode, byte[] value) throws CorruptionException, UnsupportedFormatException {
        RecordChecksum.verify(Keys.of(inode), value, KIND, inode);
        ValueReader in =
                new ValueReader(value, value.length - RecordChecksum.BYTES, KIND, inode).expectVersion(VERSION);
        int flags = in.readByte();
        if ((flags & ~(PINNED | COPIED | FRESH)) != 0) {
            throw in.corruption("flags from 0 to 7", Integer.toString(flags));
        }
        long number = in.readVarint(Long.MAX_VALUE);
        RawRecord.Copy copy =
                (flags & COPIED) == 0 ? null : new RawRecord.Copy(in.readVarint(Long.MAX_VALUE), in.readZigzag());
        in.expectEnd();
        return new RawRecord(number, (flags & PINNED) != 0, (flags & FRESH) != 0, copy);
    }
}
