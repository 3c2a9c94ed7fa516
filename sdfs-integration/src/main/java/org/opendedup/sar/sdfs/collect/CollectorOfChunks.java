package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementProgress;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.volume.SpaceCollector;

/**
 * The collector of an open volume of chunks. Passes that move chunks to other locations change recipes: it has none.
 */
public record CollectorOfChunks(SpaceCollector collector) implements SpaceCollectorSource {
    /** @throws IOException always */
    @Override
    public ArrangementReport arrange(ArrangementLimits limits, ArrangementProgress progress) throws IOException {
        throw new IOException("chunks of a volume without files are not arranged: their client has their locations");
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
