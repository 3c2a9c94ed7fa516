package org.opendedup.sar.sdfs.collect;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementProgress;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.volume.engine.SpaceCollector;

/**
 * The collector of an open volume of chunks. Passes that move chunks to other locations change recipes: it has none.
 */
public record CollectorOfChunks(SpaceCollector collector) implements SpaceCollectorSource {
    /** Nobody calls it, see {@link #canArrange}. */
    @Override
    public ArrangementReport arrange(ArrangementLimits limits, ArrangementProgress progress) {
        throw new UnsupportedOperationException("chunks without recipes are not arranged");
    }

    @Override
    public boolean canArrange() {
        return false;
    }

    @Override
    public @Nullable JoinReport joinIfWorthwhile(JoinProgress progress) {
        return null;
    }
}
