package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;

/**
 * The records of the intent log: bytes of files that are durable before they are in chunks (docs/adr/0048). Changes
 * belong to the pending generation like any other, so they become durable together with the recipes that replace them,
 * or with the size that they explain. The caller holds the change lock; records of one file must not be changed
 * concurrently.
 */
public final class IntentRecords {
    private final Overlay overlay;

    IntentRecords(Overlay overlay) {
        this.overlay = overlay;
    }

    /** Adds a record of a file. Returns the bytes of its value. */
    public int put(long inode, IntentRecord record) {
        byte[] key = Keys.of(inode, record.number());
        byte[] value = IntentRecord.encode(key, record);
        overlay.put(Family.INTENT, key, value);
        return value.length;
    }

    /** Removes the records of a file with numbers below {@code end}. */
    public void remove(long inode, long end) {
        for (long number = 0; number < end; number++) {
            overlay.remove(Family.INTENT, Keys.of(inode, number));
        }
    }

    /** Removes all records of a file, also those that cannot be decoded. */
    public void removeAll(long inode) throws IOException {
        List<byte[]> keys = new ArrayList<>();
        try (Cursor cursor = overlay.scan(Family.INTENT, Keys.of(inode), Keys.of(inode + 1))) {
            while (cursor.next()) {
                keys.add(cursor.key());
            }
        }
        keys.forEach(key -> overlay.remove(Family.INTENT, key));
    }

    /** Returns all records, in the order of inode numbers and then of their own numbers. */
    public RecordCursor<IntentRecord> all() throws IOException {
        return cursor(overlay.scan(Family.INTENT, Keys.FIRST, Keys.END));
    }

    /** Decodes the records at a cursor of their family. */
    public static RecordCursor<IntentRecord> cursor(Cursor cursor) {
        return new RecordCursor<>(cursor, 2 * Keys.LONG_BYTES, IntentRecord::decode);
    }
}
