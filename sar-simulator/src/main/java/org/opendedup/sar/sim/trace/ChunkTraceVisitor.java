package org.opendedup.sar.sim.trace;

import java.io.IOException;

/** Is told what a chunk trace has, in its order. */
public interface ChunkTraceVisitor {
    /** A version of the backed up data begins. Numbers rise. */
    void version(int number) throws IOException;

    /**
     * The next chunk of the version.
     *
     * @param fingerprint the first 64 bits of the trace's fingerprint, or all of a shorter one: enough to tell chunks apart (a trace
     *     of 10^8 different chunks has two alike with a probability of 1 : 3700)
     * @param bytes the chunk's length, 1 or more
     * @throws IllegalArgumentException what is wrong with this chunk; the reader adds file and line
     */
    void chunk(long fingerprint, int bytes) throws IOException;
}
