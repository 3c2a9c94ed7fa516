package org.opendedup.sar.sim.index;

/**
 * Where the files of a chunk trace end, which has none: after one chunk in {@value #CHUNKS}, by its content, so that
 * files of chunks of 8 KiB have the 200 KB of the SiLo paper's Table 2 on average, and the same ends in all versions.
 */
final class TraceFiles {
    static final int CHUNKS = 25;
    /** Chunks of a large file, at most: 16 MiB. */
    private static final int MAX_CHUNKS = 2048;

    private TraceFiles() {}

    /** @param chunks chunks of the file up to this one */
    static boolean ends(long key, int chunks) {
        return Long.remainderUnsigned(TraceSegment.mixed(key), CHUNKS) == 0 || chunks == MAX_CHUNKS;
    }
}
