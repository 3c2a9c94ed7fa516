package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementProgress;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.volume.VolumeMaintenance;
import org.opendedup.sar.volume.engine.SpaceCollector;

/** The collector of an open volume, and what arranges its chunks. */
public record CollectorOfVolume(SpaceCollector collector, VolumeMaintenance maintenance)
        implements SpaceCollectorSource {
    @Override
    public ArrangementReport arrange(ArrangementLimits limits, ArrangementProgress progress) throws IOException {
        return maintenance.arrange(limits, null, progress);
    }

    @Override
    public @Nullable JoinReport joinIfWorthwhile(JoinProgress progress) throws IOException {
        return maintenance.join().isWorthwhile() ? maintenance.join().run(JoinLimits.WORTHWHILE, progress) : null;
    }
}
