package org.opendedup.sar.plugin;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Leads a {@link SarHashesMap} to the {@link SarChunkStore} beside it. SDFS makes both by their names, the store first,
 * and introduces neither to the other; a process of SDFS has one pair. Safe for use by many threads.
 */
final class OpenStores {
    /** The only one: SDFS gives the two classes nothing else in common. */
    private static final OpenStores ALL = new OpenStores();

    /** Those opened last come first. Guarded by this. */
    private final Deque<SarChunkStore> stores = new ArrayDeque<>();

    private OpenStores() {}

    static void opened(SarChunkStore store) {
        ALL.add(store);
    }

    static void closed(SarChunkStore store) {
        ALL.remove(store);
    }

    /** Returns the store that was opened last. */
    static SarChunkStore last() throws IOException {
        SarChunkStore last = ALL.first();
        if (last == null) {
            throw new IOException("the index " + SarHashesMap.class.getName() + " works only with the chunk store "
                    + SarChunkStore.class.getName() + ": set chunkstore-class on <local-chunkstore> to it");
        }
        return last;
    }

    private synchronized void add(SarChunkStore store) {
        stores.push(store);
    }

    private synchronized void remove(SarChunkStore store) {
        stores.remove(store);
    }

    private synchronized @Nullable SarChunkStore first() {
        return stores.peek();
    }
}
