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
import org.opendedup.sar.metadata.versions.VersionKeeper;

/** The records of open metadata with the changes that are not committed, in a database of their own. */
public final class PresentRecords {
    private PresentRecords() {}

    /** No change may run meanwhile. */
    public static MetadataRecords of(MetadataStore metadata) throws IOException {
        Overlay overlay = metadata.overlay();
        metadata.quotas().freeze(overlay);
        HeapKeyValueStore copy = new HeapKeyValueStore();
        try (Batch batch = copy.batch()) {
            for (Family family : Family.values()) {
                try (Cursor cursor = overlay.database().scan(family, Keys.FIRST, Keys.END)) {
                    while (cursor.next()) {
                        batch.put(family, cursor.key(), cursor.value());
                    }
                }
            }
            batch.commit();
        }
        commit(copy, overlay.layers().frozen());
        commit(copy, overlay.layers().pending());
        try (Batch batch = copy.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(metadata.totals()));
            batch.commit();
        }
        return MetadataRecords.of(copy);
    }

    /** Commits the changes of a generation to the copy, as they would be to the database. */
    private static void commit(HeapKeyValueStore copy, @Nullable Generation generation) throws IOException {
        if (generation == null) {
            return;
        }
        try (Batch batch = copy.batch()) {
            for (Family family : Family.values()) {
                Map<byte[], byte[]> changes = generation.changes(family);
                VersionKeeper.keep(copy, batch, generation.rule(), family, changes, generation.changes(Family.VERSION));
                for (Map.Entry<byte[], byte[]> change : changes.entrySet()) {
                    if (change.getValue() == Generation.DELETED) {
                        batch.delete(family, change.getKey());
                    } else {
                        batch.put(family, change.getKey(), change.getValue());
                    }
                }
            }
            putCounts(batch, generation);
            batch.commit();
        }
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

    private static void putCounts(Batch batch, Generation generation) throws IOException {
        for (Map.Entry<Long, CountRecord> count : generation.counts().entrySet()) {
            batch.put(Family.COUNT, Keys.of(count.getKey()), count.getValue().encode());
        }
    }
}
