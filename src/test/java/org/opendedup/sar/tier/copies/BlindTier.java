package org.opendedup.sar.tier.copies;

import java.nio.file.Path;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.StoreDouble;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/** Opens tiers that verify nothing of what an SSD returns, neither its records nor the bytes in them. */
public final class BlindTier {
    private BlindTier() {}

    /** See {@link SsdTier#open}. */
    public static SsdTier open(
            Path location,
            Timeline timeline,
            TierSettings settings,
            TierMemory memory,
            CountSource counts,
            String name) {
        return SsdTier.open(
                location,
                timeline,
                settings,
                memory,
                counts,
                name,
                new OpenerDouble(StoreDouble.blind()),
                () -> (data, offset, length, fingerprintPrefix) -> true);
    }
}
