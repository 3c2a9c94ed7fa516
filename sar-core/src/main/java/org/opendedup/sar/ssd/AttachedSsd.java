package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.opendedup.sar.common.Timeline;

/**
 * An SSD in use, as the {@code SsdLifecycle} sees it: an {@link SsdStore}, or that of a test. Safe for use by many
 * threads.
 */
public interface AttachedSsd extends PromotionTarget, CopyStore, HotContents, Closeable {
    /** Returns whether its disk took no writes when it was opened. */
    boolean isReadOnly();

    /**
     * Sets the listener for the outcome of accepted chunks; to be called before the first offer. The tag is the cause's
     * ordinal.
     */
    void listen(OfferListener listener);

    /** Returns the heap bytes of the Map table. */
    long tableHeapBytes();

    long usedBytes();

    void resize(long capacityBytes);

    /** See {@link SsdStore#copiesFrom}. */
    LogCopies copiesFrom(int segment, long offset);

    /** See {@link SsdStore#verify}. */
    void verify(LogCopies copies, int from, int to);

    /** See {@link SsdStore#drop}. */
    boolean drop(LogCopies copies, int i);

    SsdLogStatistics statistics();

    /** Opens SSDs. Any call may hang as long as the disk hangs. */
    interface Opener {
        /** Returns how many bytes of a capacity the SSD may use. */
        default long bound(long capacityBytes) {
            return capacityBytes;
        }

        /** Notes that an SSD that was opened is not used any more; called before it is closed. */
        default void closed() {}

        /** See {@link SsdStore#claim}. */
        void claim(Path location, UUID volume) throws IOException;

        /** Opens the SSD at a location; see {@link SsdStore#open}. */
        AttachedSsd open(
                Path location,
                Timeline timeline,
                long capacityBytes,
                StoreMemory memory,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException;
    }
}
