package org.opendedup.sar.hot.copies;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.Gate;
import org.opendedup.sar.ssd.StoreDouble;

/** Opens tiers, and shows the SSD that was opened last. */
public final class SeenSsd implements HotDouble {
    /** Null before the first is opened. */
    public volatile @Nullable AttachedSsd ssd;

    @Override
    public OpenerDouble ssds() {
        return new OpenerDouble(StoreDouble.gated(new Gate(), new Gate()), opened -> {
            ssd = opened;
            return opened;
        });
    }
}
