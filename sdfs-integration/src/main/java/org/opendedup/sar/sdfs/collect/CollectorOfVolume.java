package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.Pace;
import org.opendedup.sar.volume.SpaceCollector;

/** The collector of an open volume. */
public record CollectorOfVolume(SpaceCollector collector) implements CollectionSource {
    @Override
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        return collector.collect(limits, progress);
    }

    @Override
    public Pace pace() {
        return collector.pace();
    }

    @Override
    public boolean isRunning() {
        return collector.isRunning();
    }
}
