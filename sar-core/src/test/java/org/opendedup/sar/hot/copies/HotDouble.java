package org.opendedup.sar.hot.copies;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.HotMemory;

/** Opens tiers over the SSDs of a test. */
interface HotDouble extends HotChunks.Opener {
    OpenerDouble ssds();

    /** Returns the memory that a tier gets of what the volume plans for it. */
    default HotMemory given(HotMemory memory) {
        return memory;
    }

    @Override
    default HotChunks open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable HotSettings settings,
            HotMemory memory,
            CountSource counts,
            String name) {
        return HotChunks.open(
                location, timeline, settings, given(memory), counts, name, ssds(), CopyCheck::byFingerprint);
    }
}
