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
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.volume.SpaceCollector;
import org.opendedup.sar.volume.VolumeMaintenance;

/** The collector of an open volume, and what arranges its chunks. */
public record CollectorOfVolume(SpaceCollector collector, VolumeMaintenance maintenance) implements CollectionSource {
    @Override
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        return collector.collect(limits, progress);
    }

    @Override
    public ArrangementReport arrange(ArrangementLimits limits, ArrangementProgress progress) throws IOException {
        return maintenance.arrange(limits, null, progress);
    }

    @Override
    public @Nullable JoinReport joinIfWorthwhile(JoinProgress progress) throws IOException {
        return maintenance.join().isWorthwhile() ? maintenance.join().run(JoinLimits.WORTHWHILE, progress) : null;
    }

    @Override
    public void requireAllowed() throws IOException {
        collector.requireAllowed();
    }

    @Override
    public Pace pace() {
        return collector.pace();
    }

    @Override
    public void watch(CollectionWatcher watcher) {
        collector.watch(watcher);
    }

    @Override
    public boolean isRunning() {
        return collector.isRunning();
    }
}
