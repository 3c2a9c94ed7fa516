package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.metadata.record.NumberedKeys;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The data locations that were added to a volume (docs/adr/0109). They say which ones a mount needs; in which one a
 * pack lies is not recorded. Each change is durable when the call returns.
 */
public final class LocationRecords {
    private static final NumberedKeys KEYS = new NumberedKeys("location", "a data location");

    private final KeyValueStore database;

    public LocationRecords(KeyValueStore database) {
        this.database = database;
    }

    /** Returns the records, by number. */
    public List<DataLocation> all() throws IOException {
        List<DataLocation> all = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.SYSTEM, KEYS.first(), KEYS.end())) {
            while (cursor.next()) {
                all.add(SystemRecords.decodeLocation(KEYS.number(cursor.key()), cursor.value()));
            }
        }
        return all;
    }

    /** Writes a record in place of that with its number. */
    public void put(DataLocation location) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, KEYS.of(location.number()), SystemRecords.encodeLocation(location));
            batch.commit();
        }
    }

    /** Writes these records in place of all. */
    public void replace(List<DataLocation> locations) throws IOException {
        try (Batch batch = database.batch()) {
            for (DataLocation former : all()) {
                batch.delete(Family.SYSTEM, KEYS.of(former.number()));
            }
            for (DataLocation location : locations) {
                batch.put(Family.SYSTEM, KEYS.of(location.number()), SystemRecords.encodeLocation(location));
            }
            batch.commit();
        }
    }
}
