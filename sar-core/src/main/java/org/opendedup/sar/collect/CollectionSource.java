package org.opendedup.sar.collect;

import java.io.IOException;
import org.opendedup.sar.disk.Pace;

/** What collects the garbage of a volume; {@link org.opendedup.sar.volume.Volume} does it. */
public interface CollectionSource {
    /**
     * Collects garbage. A second call waits for the first.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException;

    /** @throws IOException if no collection may run but a dry run; the message says why and what to do */
    void requireAllowed() throws IOException;

    /** Returns whether a disk has little room left, and a collection would help it. */
    boolean isWorthwhile() throws IOException;

    /** Returns the pace of all collections of this mount. */
    Pace pace();

    /** Sets what receives the collections that the volume begins itself, because a disk is full. */
    void watch(CollectionWatcher watcher);

    /** Returns whether a collection is running, also one that the volume began itself. */
    boolean isRunning();
}
