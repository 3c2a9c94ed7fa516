package org.opendedup.sar.metadata;

import com.carrotsearch.hppc.LongArrayList;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;
import org.opendedup.sar.metadata.Overlay.Layers;

/**
 * Goes through all records of counts.
 *
 * @param stripes returns the stripe of a container, whose monitor guards its record
 */
record CountScan(Overlay overlay, LongFunction<CountStripe> stripes) {
    /** See {@link ReferenceCounts#forEachContainer}. */
    void forEach(ContainerCountsVisitor visitor) throws IOException {
        NavigableMap<Long, CountRecord> uncommitted = uncommitted();
        try (Cursor cursor = overlay.database().scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long container = Keys.longAt(cursor.key(), 0);
                visitAll(uncommitted.headMap(container), visitor);
                CountRecord newer = uncommitted.remove(container);
                visitor.visit(
                        container,
                        newer != null
                                ? newer
                                : CountRecord.decode(container, cursor.value(), CountRecord.NO_GENERATION));
            }
        }
        visitAll(uncommitted, visitor);
    }

    /** See {@link ReferenceCounts#committed}. */
    LongArrayList committed(long first, int most) throws IOException {
        LongArrayList ids = new LongArrayList();
        try (Cursor cursor = overlay.database().scan(Family.COUNT, Keys.of(first), Keys.END)) {
            while (ids.size() < most && cursor.next()) {
                ids.add(Keys.longAt(cursor.key(), 0));
            }
        }
        return ids;
    }

    /** Returns copies of the records that are not in the database yet, in their current state. */
    private NavigableMap<Long, CountRecord> uncommitted() {
        Layers layers = overlay.layers();
        NavigableMap<Long, CountRecord> records = new TreeMap<>();
        if (layers.frozen() != null) {
            records.putAll(layers.frozen().counts());
        }
        for (Map.Entry<Long, CountRecord> change : layers.pending().counts().entrySet()) {
            synchronized (stripes.apply(change.getKey())) {
                records.put(change.getKey(), change.getValue().copy(CountRecord.NO_GENERATION));
            }
        }
        return records;
    }

    private static void visitAll(Map<Long, CountRecord> records, ContainerCountsVisitor visitor) throws IOException {
        for (Map.Entry<Long, CountRecord> record : records.entrySet()) {
            visitor.visit(record.getKey(), record.getValue());
        }
        records.clear();
    }
}
