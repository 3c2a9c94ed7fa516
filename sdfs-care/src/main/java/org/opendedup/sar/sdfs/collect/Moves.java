package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.join.JoinSource;

/**
 * What moves chunks of a volume of files to other locations before a collection, which then returns the space of the
 * old copies.
 *
 * @param joins joins copies of the same content
 */
public record Moves(Arranging arranging, JoinSource joins) {
    /** Moves chunks as the newest files want them. */
    @FunctionalInterface
    public interface Arranging {
        /** @throws java.io.InterruptedIOException if {@code progress} stopped it */
        ArrangementReport arrange(ArrangementLimits limits, Progress progress) throws IOException;
    }
}
