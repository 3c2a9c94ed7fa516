package org.opendedup.sar.container;

import java.util.Iterator;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.FrameTable;

/** A cache of the most recently used frame tables, bounded in bytes. Safe for use by many threads. */
final class FrameTableCache {
    /** Heap bytes of a map entry, its key and its place in the map. */
    private static final int ENTRY_BYTES = 80;

    private final long maxBytes;

    /** Tables in order of use, the most recent last. Guarded by this. */
    private final LinkedHashMap<Long, FrameTable> tables = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    FrameTableCache(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    synchronized @Nullable FrameTable get(long container) {
        return tables.get(container);
    }

    synchronized void put(long container, FrameTable table) {
        FrameTable replaced = tables.put(container, table);
        bytes += weight(table) - (replaced == null ? 0 : weight(replaced));
        Iterator<FrameTable> eldest = tables.values().iterator();
        while (bytes > maxBytes && eldest.hasNext()) {
            bytes -= weight(eldest.next());
            eldest.remove();
        }
    }

    private static int weight(FrameTable table) {
        return ENTRY_BYTES + table.weightBytes();
    }
}
