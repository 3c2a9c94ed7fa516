package org.opendedup.sar.sim.tddfs.tier;

/**
 * What one migration costs, in the background.
 *
 * @param fastRead bytes to read from the fast tier
 * @param fastWritten bytes to write to it
 * @param slowRead bytes to read from the slow tier
 * @param slowSeeks seeks that reading them takes
 * @param slowWritten bytes to write to it, one after another
 * @param cutBytes bytes to cut and to fingerprint
 * @param lookUps chunks to look up in the index
 */
public record Work(
        long fastRead,
        long fastWritten,
        long slowRead,
        double slowSeeks,
        long slowWritten,
        long cutBytes,
        long lookUps) {
    /** Returns the work of moving bytes to the slow tier unchanged. */
    public static Work down(long bytes) {
        return new Work(bytes, 0, 0, 0, bytes, 0, 0);
    }

    /** Returns the work of moving bytes to the fast tier unchanged; some of them have been read already. */
    public static Work up(long readBytes, double seeks, long bytes) {
        return new Work(0, bytes, readBytes, seeks, 0, 0, 0);
    }

    /** Returns the most bytes that one device transfers in one direction; the work is divided by them. */
    long mostBytes() {
        return Math.max(Math.max(cutBytes, Math.max(fastRead, fastWritten)), Math.max(slowRead, slowWritten));
    }
}
