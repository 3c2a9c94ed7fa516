package org.opendedup.sar.sim.data;

import java.io.IOException;
import org.opendedup.sar.chunk.Segment;

/** Receives the chunks of data that is read. */
@FunctionalInterface
public interface SegmentSink {
    /**
     * Receives the next chunks, with their bytes and, except for zero runs, their fingerprints. The segment is reused
     * afterwards.
     */
    void take(Segment segment) throws IOException;
}
