package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SystemRecords;

/** The records of open metadata with the changes that are not committed, in a database of their own. */
public final class PresentRecords {
    private PresentRecords() {}

    /** No change may run meanwhile. */
    public static MetadataRecords of(MetadataStore metadata) throws IOException {
        Overlay overlay = metadata.overlay();
        HeapKeyValueStore copy = new HeapKeyValueStore();
        try (Batch batch = copy.batch()) {
            for (Family family : Family.values()) {
                try (Cursor cursor = overlay.scan(family, Keys.FIRST, Keys.END)) {
                    while (cursor.next()) {
                        batch.put(family, cursor.key(), cursor.value());
                    }
                }
            }
            putCounts(batch, overlay.layers().frozen());
            putCounts(batch, overlay.layers().pending());
            batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(metadata.totals()));
            batch.commit();
        }
        return MetadataRecords.of(copy);
    }

    /** Visits the counts in ascending order of containers. No change may run meanwhile. */
    public static void forEachCounted(MetadataStore metadata, MetadataRecords.CountVisitor visitor) throws IOException {
        SortedMap<Long, ContainerCounts> all = new TreeMap<>();
        MetadataRecords.countsOf(metadata.overlay().database(), all::put);
        Overlay.Layers layers = metadata.overlay().layers();
        if (layers.frozen() != null) {
            all.putAll(layers.frozen().counts());
        }
        all.putAll(layers.pending().counts());
        for (Map.Entry<Long, ContainerCounts> each : all.entrySet()) {
            visitor.visit(each.getKey(), each.getValue());
        }
    }

    private static void putCounts(Batch batch, @Nullable Generation generation) throws IOException {
        Map<Long, CountRecord> counts = generation == null ? Map.of() : generation.counts();
        for (Map.Entry<Long, CountRecord> count : counts.entrySet()) {
            batch.put(Family.COUNT, Keys.of(count.getKey()), count.getValue().encode());
        }
    }
}
