package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.volume.engine.SpaceCollector;

/** What the collectors of open volumes have in common, whatever the volume stores. */
interface SpaceCollectorSource extends CollectionSource {
    SpaceCollector collector();

    @Override
    default CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        return collector().collect(limits, progress);
    }

    @Override
    default void requireAllowed() throws IOException {
        collector().requireAllowed();
    }

    @Override
    default boolean isWorthwhile() throws IOException {
        return collector().isWorthwhile();
    }

    @Override
    default Pace pace() {
        return collector().pace();
    }

    @Override
    default void watch(CollectionWatcher watcher) {
        collector().watch(watcher);
    }

    @Override
    default boolean isRunning() {
        return collector().isRunning();
    }
}
