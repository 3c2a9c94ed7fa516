package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;

/** An SSD in use, as the {@link SsdConnection} sees it: an {@link SsdStore}, or a test's. Safe for use by many threads. */
interface AttachedSsd extends PromotionTarget, CopyStore, TierContents, Closeable {
    /** Whether its disk took no writes when it was opened. */
    boolean isReadOnly();

    /** Heap bytes of the Map table. */
    long tableHeapBytes();

    long usedBytes();

    void resize(long capacityBytes);

    SsdLogStatistics statistics();

    /** Opens SSDs. Any call may hang as long as the disk does. */
    interface Opener {
        /** See {@link SsdStore#claim}. */
        void claim(Path location, UUID volume) throws IOException;

        /** Opens what a location holds; see {@link SsdStore#open}. */
        AttachedSsd open(
                Path location,
                Timeline timeline,
                long capacityBytes,
                int maxEntries,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException;
    }
}
