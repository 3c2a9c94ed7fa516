package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdEvent;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.demotion.DemotionStatistics;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.distributor.Latency;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.PromotionStatistics;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.ssd.SsdLogStatistics;

/**
 * The {@link SarSource} of a volume that was mounted without an SSD. All statistics are 0. Accepts settings for the
 * next mount.
 */
public final class SarWithoutSsd implements SarSource {
    private volatile HotSettings settings;

    public SarWithoutSsd(HotSettings settings) {
        this.settings = settings;
    }

    @Override
    public HotChunks.Status status() {
        return new HotChunks.Status(
                SsdState.NONE,
                null,
                "the volume has no SSD",
                settings,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                PromotionStatistics.NONE,
                new DemotionStatistics(0, 0, 0, 0, false, 0, 0),
                new DistributorStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Latency.NONE, Latency.NONE),
                SsdLogStatistics.NONE);
    }

    @Override
    public void change(HotSettings changed) {
        settings = changed;
    }

    /** Does nothing: there are no chunks to demote. */
    @Override
    public void demoteUpTo(int references) {}

    @Override
    public void detach() throws IOException {
        throw new IOException(SarSettings.NO_SSD);
    }

    @Override
    public void attach(Path location) throws IOException {
        throw new IOException(SarSettings.NO_SSD);
    }

    /** Does nothing: no event ever occurs. */
    @Override
    public void listen(Consumer<SsdEvent> listener) {}
}
