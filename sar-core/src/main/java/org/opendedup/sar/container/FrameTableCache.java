package org.opendedup.sar.container;

import java.util.Iterator;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.LocatedTable;

/** A cache of the most recently used frame tables, bounded in bytes. Safe for use by many threads. */
final class FrameTableCache {
    /** Heap bytes of a map entry, its key, its place in the map, and the place of the container. */
    private static final int ENTRY_BYTES = 112;

    private final long maxBytes;

    /** Tables in order of use, the most recent last. Guarded by this. */
    private final LinkedHashMap<Long, LocatedTable> tables = new LinkedHashMap<>(16, 0.75f, true);

    private long bytes;

    FrameTableCache(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    synchronized @Nullable LocatedTable get(long container) {
        return tables.get(container);
    }

    synchronized void put(long container, LocatedTable table) {
        LocatedTable replaced = tables.put(container, table);
        bytes += weight(table) - (replaced == null ? 0 : weight(replaced));
        Iterator<LocatedTable> eldest = tables.values().iterator();
        while (bytes > maxBytes && eldest.hasNext()) {
            bytes -= weight(eldest.next());
            eldest.remove();
        }
    }

    /** Removes a container's table if it is still {@code table}. */
    synchronized void remove(long container, LocatedTable table) {
        if (tables.remove(container, table)) {
            bytes -= weight(table);
        }
    }

    private static int weight(LocatedTable located) {
        return ENTRY_BYTES + located.table().weightBytes();
    }
}
