package org.opendedup.sar.tier.copies;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.BlindStore;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreMemory;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.TierMemory;

/** Opens tiers that check nothing of what an SSD returns, neither its records nor the bytes in them. */
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
                new BlindOpener(),
                () -> (data, offset, length, check) -> true);
    }

    private static final class BlindOpener implements AttachedSsd.Opener {
        @Override
        public void claim(Path location, UUID volume) throws IOException {
            SsdStore.claim(location, volume);
        }

        @Override
        public AttachedSsd open(
                Path location,
                Timeline timeline,
                long capacityBytes,
                StoreMemory memory,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException {
            return new StoredCopies(
                    BlindStore.open(location, timeline, capacityBytes, memory, makeRoom, failure), memory);
        }
    }
}
