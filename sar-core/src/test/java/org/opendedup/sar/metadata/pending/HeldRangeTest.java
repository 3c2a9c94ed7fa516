package org.opendedup.sar.metadata.pending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;

/** How much of a range is held in memory. */
class HeldRangeTest {
    private static final int RECORDS = 64;
    private static final long INODE = 7;

    private final HeapKeyValueStore database = new HeapKeyValueStore();
    private final Overlay overlay = new Overlay(database);

    private static byte[] key(long page) {
        return Keys.of(INODE, page);
    }

    /** Holds the recipe of a file whose pages have records of this length. */
    private HeldRange hold(int recordBytes) throws IOException {
        try (Batch batch = database.batch()) {
            for (int page = 0; page < RECORDS; page++) {
                batch.put(Family.RECIPE, key(page), new byte[recordBytes]);
            }
            batch.commit();
        }
        return overlay.hold(Family.RECIPE, key(0), key(0), Keys.of(INODE + 1, 0), 2 * RECORDS);
    }

    private static int heldRecords(HeldRange range) {
        int held = 0;
        for (int page = 0; page < RECORDS; page++) {
            held += range.covers(Family.RECIPE, key(page)) ? 1 : 0;
        }
        return held;
    }

    @Test
    void shortRecordsAreAllHeld() throws IOException {
        HeldRange range = hold(400);
        assertEquals(RECORDS, heldRecords(range));
        assertNull(range.lastOfPart());
    }

    @Test
    void longRecordsAreHeldUpToALimit() throws IOException {
        HeldRange range = hold(HeldRange.MAX_BYTES / 4);
        assertEquals(4, heldRecords(range));
        assertArrayEquals(key(3), range.lastOfPart());
    }

    /** Who scans what is held must not read the database: it has locks that others wait for. */
    @Test
    void aPartIsScannedInMemory() throws IOException {
        HeldRange range = hold(HeldRange.MAX_BYTES / 4);
        assertTrue(range.covers(Family.RECIPE, key(0), key(4)));
        assertFalse(range.covers(Family.RECIPE, key(0), key(5)));
        assertEquals(4, records(overlay.scan(Family.RECIPE, key(0), key(4))));
    }

    private static int records(Cursor cursor) throws IOException {
        int records = 0;
        try (cursor) {
            while (cursor.next()) {
                records++;
            }
        }
        return records;
    }

    @Test
    void oneRecordIsHeldHoweverLongItIs() throws IOException {
        HeldRange range = hold(HeldRange.MAX_BYTES + 1);
        assertEquals(1, heldRecords(range));
        assertArrayEquals(key(0), range.lastOfPart());
    }
}
