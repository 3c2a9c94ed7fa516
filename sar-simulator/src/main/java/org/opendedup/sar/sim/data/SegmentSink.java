package org.opendedup.sar.sim.data;

import java.io.IOException;
import org.opendedup.sar.chunk.Segment;

/** Takes the chunks of data that is read. */
@FunctionalInterface
public interface SegmentSink {
    /** The next chunks, with their bytes and, but for zero runs, their fingerprints. The segment is used again afterwards. */
    void take(Segment segment) throws IOException;
}
