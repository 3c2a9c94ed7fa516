package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The data locations that were added to a volume (docs/adr/0109). They say which ones a mount needs; in which one a
 * pack lies is not recorded. Each change is durable when the call returns.
 */
public final class LocationRecords {
    private static final String PREFIX = "location ";
    private static final byte[] FIRST_KEY = PREFIX.getBytes(US_ASCII);
    /** After all keys with the prefix: {@code !} follows the space. */
    private static final byte[] END_KEY = "location!".getBytes(US_ASCII);

    private final KeyValueStore database;

    public LocationRecords(KeyValueStore database) {
        this.database = database;
    }

    private static byte[] key(long number) {
        return String.format(Locale.ROOT, "%s%016x", PREFIX, number).getBytes(US_ASCII);
    }

    private static long number(byte[] key) throws CorruptionException {
        String text = new String(key, US_ASCII);
        try {
            return Long.parseUnsignedLong(text, PREFIX.length(), text.length(), 16);
        } catch (NumberFormatException e) {
            throw new CorruptionException("metadata database", -1, "the number of a data location", text);
        }
    }

    /** Returns the records, by number. */
    public List<DataLocation> all() throws IOException {
        List<DataLocation> all = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.SYSTEM, FIRST_KEY, END_KEY)) {
            while (cursor.next()) {
                all.add(SystemRecords.decodeLocation(number(cursor.key()), cursor.value()));
            }
        }
        return all;
    }

    /** Writes a record in place of that with its number. */
    public void put(DataLocation location) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, key(location.number()), SystemRecords.encodeLocation(location));
            batch.commit();
        }
    }

    /** Writes these records in place of all. */
    public void replace(List<DataLocation> locations) throws IOException {
        try (Batch batch = database.batch()) {
            for (DataLocation former : all()) {
                batch.delete(Family.SYSTEM, key(former.number()));
            }
            for (DataLocation location : locations) {
                batch.put(Family.SYSTEM, key(location.number()), SystemRecords.encodeLocation(location));
            }
            batch.commit();
        }
    }
}
