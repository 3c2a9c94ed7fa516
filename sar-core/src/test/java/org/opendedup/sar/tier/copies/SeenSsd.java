package org.opendedup.sar.tier.copies;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.Gate;
import org.opendedup.sar.ssd.StoreDouble;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/** Opens tiers, and shows the SSD that was opened last. */
public final class SeenSsd implements SsdTier.Opener {
    /** Null before the first is opened. */
    public volatile @Nullable AttachedSsd ssd;

    @Override
    public SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
            TierMemory memory,
            CountSource counts,
            String name) {
        OpenerDouble ssds = new OpenerDouble(StoreDouble.gated(new Gate(), new Gate()), opened -> {
            ssd = opened;
            return opened;
        });
        return SsdTier.open(location, timeline, settings, memory, counts, name, ssds, CopyCheck::byFingerprint);
    }
}
