package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ByteRanges;
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
 * The records of files on the fast tier: which lie there whole (docs/adr/0050), and which with the bytes that were
 * changed since they were migrated (docs/adr/0082). Changes belong to the pending generation like any other. The caller
 * holds the change lock.
 */
public final class RawRecords {
    private static final int VERSION = 2;
    private static final String KIND = "raw file";
    private static final int PINNED = 1;
    private static final int COPIED = 2;
    private static final int FRESH = 4;
    private static final int CHANGED = 8;

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
        List<ByteRanges.Range> changed = record.changed();
        ValueWriter out = new ValueWriter(32)
                .writeByte(VERSION)
                .writeByte((record.pinned() ? PINNED : 0)
                        | (copy == null ? 0 : COPIED)
                        | (record.fresh() ? FRESH : 0)
                        | (changed == null ? 0 : CHANGED))
                .writeVarint(record.number());
        if (copy != null) {
            out.writeVarint(copy.size()).writeZigzag(copy.changedNs());
        }
        if (changed != null) {
            out.writeVarint(changed.size());
            long at = 0;
            for (ByteRanges.Range range : changed) {
                out.writeVarint(range.from() - at).writeVarint(range.bytes());
                at = range.to();
            }
        }
        return out.writeIntLittleEndian(RecordChecksum.of(Keys.of(inode), out.buffer(), out.length()))
                .toBytes();
    }

    public static RawRecord decode(long inode, byte[] value) throws CorruptionException, UnsupportedFormatException {
        RecordChecksum.verify(Keys.of(inode), value, KIND, inode);
        ValueReader in =
                new ValueReader(value, value.length - RecordChecksum.BYTES, KIND, inode).expectVersion(VERSION);
        int flags = in.readByte();
        if ((flags & ~(PINNED | COPIED | FRESH | CHANGED)) != 0) {
            throw in.corruption("flags from 0 to 15", Integer.toString(flags));
        }
        long number = in.readVarint(Long.MAX_VALUE);
        RawRecord.Copy copy =
                (flags & COPIED) == 0 ? null : new RawRecord.Copy(in.readVarint(Long.MAX_VALUE), in.readZigzag());
        List<ByteRanges.Range> changed = (flags & CHANGED) == 0 ? null : readRanges(in);
        in.expectEnd();
        return new RawRecord(number, (flags & PINNED) != 0, (flags & FRESH) != 0, copy, changed);
    }

    /**
     * Reads the number of ranges, and of each the distance from the end of the one before, and its length. There is at
     * least one, none is empty, and none touches the one before.
     */
    private static List<ByteRanges.Range> readRanges(ValueReader in) throws CorruptionException {
        int count = (int) in.readVarint(in.remaining());
        if (count == 0) {
            throw in.corruption("a range of changed bytes", "none");
        }
        List<ByteRanges.Range> ranges = new ArrayList<>(count);
        long at = 0;
        for (int i = 0; i < count; i++) {
            long distance = in.readVarint(Long.MAX_VALUE - at);
            long length = in.readVarint(Long.MAX_VALUE - at - distance);
            if (length == 0 || distance == 0 && i > 0) {
                throw in.corruption(
                        "ranges that are not empty and do not touch",
                        "range " + i + " of " + length + " bytes, " + distance + " after the one before");
            }
            ranges.add(new ByteRanges.Range(at + distance, at + distance + length));
            at += distance + length;
        }
        return ranges;
    }
}
