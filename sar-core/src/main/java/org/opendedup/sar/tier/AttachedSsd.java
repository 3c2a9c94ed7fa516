package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;

/** An SSD in use, as the {@link SsdConnection} sees it: an {@link SsdStore}, or a test's. Safe for use by many threads. */
interface AttachedSsd extends PromotionTarget, CopyStore, TierContents, Closeable {
    /** Heap bytes of the Map table. */
    long tableHeapBytes();

    long usedBytes();

    void resize(long capacityBytes);

    SsdLogStatistics statistics();

    /** Opens what a location holds; see {@link SsdStore#open}. */
    @FunctionalInterface
    interface Opener {
        AttachedSsd open(
                Path location,
                UUID volume,
                long capacityBytes,
                int maxEntries,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException;
    }
}
