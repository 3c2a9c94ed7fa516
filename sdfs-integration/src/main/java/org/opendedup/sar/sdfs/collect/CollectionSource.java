package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementProgress;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;

/** What collects the garbage of a volume; {@link org.opendedup.sar.volume.Volume} does it. */
public interface CollectionSource {
    /**
     * Collects garbage. A second call waits for the first.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException;

    /**
     * Moves chunks as the newest files want them; a collection then returns the space of the old copies.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    ArrangementReport arrange(ArrangementLimits limits, ArrangementProgress progress) throws IOException;

    /**
     * Joins copies of the same content, if the index may miss duplicates and that is worth it; a collection then
     * returns the space.
     *
     * @return null if it is not worth it
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    @Nullable
    JoinReport joinIfWorthwhile(JoinProgress progress) throws IOException;

    /** Returns whether chunks can be moved at all. */
    default boolean canArrange() {
        return true;
    }

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
