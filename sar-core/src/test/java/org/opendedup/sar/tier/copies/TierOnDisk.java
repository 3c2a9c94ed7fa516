package org.opendedup.sar.tier.copies;

import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.ssd.StoreDouble;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/**
 * Opens tiers whose segment files lie on a disk of the test's own.
 *
 * @param disk makes that disk from the folder of the SSD
 */
public record TierOnDisk(UnaryOperator<Directory> disk) implements SsdTier.Opener {
    @Override
    public SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
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
                new OpenerDouble(StoreDouble.onDisk(disk)),
                CopyCheck::byFingerprint);
    }
}
