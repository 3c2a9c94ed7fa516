package org.opendedup.sar.plugin;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Leads an index to the engine of the chunk store beside it. SDFS makes both by their names, the store first, and
 * introduces neither to the other; a process of SDFS has one pair. Safe for use by many threads.
 */
final class OpenStores {
    /** The only one: SDFS gives the two classes nothing else in common. */
    private static final OpenStores ALL = new OpenStores();

    /** Those opened last come first. Guarded by this. */
    private final Deque<OpenEngine> stores = new ArrayDeque<>();

    private OpenStores() {}

    static void opened(OpenEngine store) {
        ALL.add(store);
    }

    static void closed(OpenEngine store) {
        ALL.remove(store);
    }

    /** Returns the store that was opened last. */
    static OpenEngine last() throws IOException {
        OpenEngine last = ALL.first();
        if (last == null) {
            throw new IOException("the index of SAR works only with the chunk store of SAR: set chunkstore-class on"
                    + " <local-chunkstore> to org.opendedup.sar.plugin.SarChunkStore");
        }
        return last;
    }

    private synchronized void add(OpenEngine store) {
        stores.push(store);
    }

    private synchronized void remove(OpenEngine store) {
        stores.remove(store);
    }

    private synchronized @Nullable OpenEngine first() {
        return stores.peek();
    }
}
