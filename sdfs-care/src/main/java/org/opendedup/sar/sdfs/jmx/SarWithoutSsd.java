package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.tier.SsdEvent;
import org.opendedup.sar.tier.SsdState;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.demotion.DemotionStatistics;
import org.opendedup.sar.tier.distributor.DistributorStatistics;
import org.opendedup.sar.tier.distributor.Latency;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.PromotionStatistics;

/**
 * The {@link SarSource} of a volume that was mounted without an SSD. All statistics are 0. Accepts settings for the
 * next mount.
 */
public final class SarWithoutSsd implements SarSource {
    private volatile TierSettings settings;

    public SarWithoutSsd(TierSettings settings) {
        this.settings = settings;
    }

    @Override
    public SsdTier.Status status() {
        return new SsdTier.Status(
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
                new DistributorStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, Latency.NONE, Latency.NONE),
                new SsdLogStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Override
    public void change(TierSettings changed) {
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
