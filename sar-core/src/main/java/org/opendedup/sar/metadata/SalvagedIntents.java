package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Makes records of the intent log that may be missing noticeable. One that is missing between others is noticed by the
 * numbers, but one after the last is not: it may have said that the bytes of earlier ones are stored, and by now newer
 * ones, over which a mount would put the old ones. So a record that cannot be decoded takes its place: the file cannot
 * be opened until a repair removes its records.
 */
final class SalvagedIntents {
    private static final byte[] DAMAGED = {0};

    private final KeyValueStore database;
    private final LostRecords lost;
    private final List<String> told;

    /** @param told receives what is lost, as sentences */
    SalvagedIntents(KeyValueStore database, LostRecords lost, List<String> told) {
        this.database = database;
        this.lost = lost;
        this.told = told;
    }

    void run() throws IOException {
        if (lost.of(Family.INTENT).isEmpty()) {
            return;
        }
        Map<Long, byte[]> missing = new LinkedHashMap<>();
        try (Cursor cursor = database.scan(Family.INTENT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                if (key.length >= 2 * Keys.LONG_BYTES) {
                    long inode = Keys.longAt(key, 0);
                    missing.put(inode, Keys.of(inode, Keys.longAt(key, Keys.LONG_BYTES) + 1));
                }
            }
        }
        missing.values().removeIf(key -> !lost.contains(Family.INTENT, key));
        try (Batch batch = database.batch()) {
            for (Map.Entry<Long, byte[]> next : missing.entrySet()) {
                batch.put(Family.INTENT, next.getValue(), DAMAGED);
                told.add("perhaps the last of the bytes of inode " + next.getKey()
                        + " that were written within the last seconds; it cannot be opened until sdfs-check --repair"
                        + " gives these bytes up");
            }
            batch.commit();
        }
    }
}
