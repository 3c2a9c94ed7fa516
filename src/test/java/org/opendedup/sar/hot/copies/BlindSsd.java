package org.opendedup.sar.hot.copies;

import java.nio.file.Path;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.HotMemory;
import org.opendedup.sar.ssd.StoreDouble;

/** Opens tiers that verify nothing of what an SSD returns, neither its records nor the bytes in them. */
public final class BlindSsd {
    private BlindSsd() {}

    /** See {@link HotChunks#open}. */
    public static HotChunks open(
            Path location, Timeline timeline, HotSettings settings, HotMemory memory, CountSource counts, String name) {
        return HotChunks.open(
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
