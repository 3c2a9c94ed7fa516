package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.Pace;

/** What collects the garbage of a volume; {@link org.opendedup.sar.volume.SpaceCollector} has these methods. */
public interface CollectionSource {
    /**
     * Collects garbage. A second call waits for the first.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException;

    /** Returns the pace of all collections of this mount. */
    Pace pace();

    /** Returns whether a collection is running, also one that the volume began itself. */
    boolean isRunning();
}
