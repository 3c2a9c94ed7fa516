package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/** Records of the intent log after which a damaged block may have had others: they must not be taken for all. */
class SalvagedIntentsTest {
    private final KeyValueStore database = KeyValueStores.heap();
    private final LostRecords lost = new LostRecords();
    private final List<String> told = new ArrayList<>();

    private void put(long inode, int... numbers) throws IOException {
        try (Batch batch = database.batch()) {
            for (int number : numbers) {
                byte[] key = Keys.of(inode, number);
                batch.put(Family.INTENT, key, IntentFormat.encode(key, new IntentRecord(number, 0, 1, new byte[1])));
            }
            batch.commit();
        }
    }

    /** Returns each record as its inode, with a mark if it is damaged. */
    private List<String> records() throws IOException {
        new SalvagedIntents(database, lost, told).run();
        List<String> found = new ArrayList<>();
        try (RecordCursor<IntentRecord> records =
                IntentRecords.cursor(database.scan(Family.INTENT, Keys.FIRST, Keys.END))) {
            while (records.next()) {
                found.add(records.id() + (records.value() == null ? " damaged" : ""));
            }
        }
        return found;
    }

    @Test
    void recordsThatMayBeMissingAfterTheLastAreNoticed() throws IOException {
        put(5, 0, 1, 2);
        put(6, 0);
        put(7, 3);
        lost.add(Family.INTENT, Keys.of(5, 2), Keys.of(7, 3));
        assertEquals(List.of("5", "5", "5", "5 damaged", "6", "6 damaged", "7"), records());
        assertEquals(2, told.size());
        assertTrue(told.get(0).contains("inode 5 "), told::toString);
    }

    @Test
    void recordsOfWhichNoneIsMissingStay() throws IOException {
        put(5, 0, 1, 2);
        put(6, 0);
        lost.add(Family.INTENT, Keys.of(5, 0), Keys.of(5, 1));
        lost.add(Family.RECIPE, Keys.of(5, 2), Keys.of(9, 0));
        assertEquals(List.of("5", "5", "5", "6"), records());
        assertEquals(List.of(), told);
    }
}
