package org.opendedup.sar.tier.copies;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/** Opens tiers over the SSDs of a test. */
interface TierDouble extends SsdTier.Opener {
    OpenerDouble ssds();

    /** Returns the memory that a tier gets of what the volume plans for it. */
    default TierMemory given(TierMemory memory) {
        return memory;
    }

    @Override
    default SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
            TierMemory memory,
            CountSource counts,
            String name) {
        return SsdTier.open(
                location, timeline, settings, given(memory), counts, name, ssds(), CopyCheck::byFingerprint);
    }
}
