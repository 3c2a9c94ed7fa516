package org.opendedup.sar.sim.trace;

import java.io.IOException;

/** Receives the contents of a chunk trace, in order. */
public interface ChunkTraceVisitor {
    /** Starts a version of the backed up data. Numbers rise. */
    void version(int number) throws IOException;

    /**
     * Receives the next chunk of the version.
     *
     * @param fingerprint the first 64 bits of the trace's fingerprint, or all of a shorter one: enough to distinguish
     *     chunks (in a trace of 10^8 different chunks, two are equal with a probability of 1 : 3700)
     * @param bytes the chunk's length, 1 or more
     * @throws IllegalArgumentException if the chunk is wrong; says how, and the reader adds file and line
     */
    void chunk(long fingerprint, int bytes) throws IOException;
}
