package org.opendedup.sar.sim.tddfs.tier;

import org.opendedup.sar.sim.device.DiskParameters;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.device.SsdParameters;

/**
 * Times of the devices and of deduplication, in nanoseconds. The SSD serves the pieces of a request side by side, up to
 * its number of requests at once, and transfers them at its rate. A seek of the disk takes its overhead, an average
 * seek and half a revolution; it transfers at the mean of its outermost and innermost rate: where the chunks lie on the
 * disk was not published. No state.
 *
 * @param ssd the fast tier
 * @param disk the slow tier
 */
public record TierCosts(SsdParameters ssd, DiskParameters disk, Dedup dedup) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * Costs of deduplication.
     *
     * @param cutBytesPerSecond rate of cutting and fingerprinting
     * @param lookUpNanos time to look up or update a chunk in the index
     * @param chunkNanos time to find and open a chunk through a recipe: in the paper's prototype each is a file
     */
    public record Dedup(double cutBytesPerSecond, long lookUpNanos, long chunkNanos) {
        /**
         * Costs like those of the paper's machine, a Xeon of 2.2 GHz (section 5.1). It has no rates, so these are
         * assumed: chunking by a byte-wise checksum at 500 MB/s and SHA-1 at 500 MB/s, one after the other; an index
         * whose often used parts are in memory; opening, reading and closing a file in memory.
         */
        public static final Dedup ASSUMED = new Dedup(250e6, 10_000, 5_000);

        /** {@link #ASSUMED}, with a look-up that reads the SSD once, in 100 µs. */
        public static final Dedup SLOW_INDEX = new Dedup(250e6, 100_000, 5_000);
    }

    /** Returns the costs on a machine. */
    public static TierCosts of(Machine machine, Dedup dedup) {
        return new TierCosts(machine.ssd(), machine.disk(), dedup);
    }

    /** Returns the time of a request to the fast tier whose pieces are requested together. */
    public long fastNanos(boolean isWrite, long bytes, long pieces) {
        long rounds = (pieces + ssd.requestsAtOnce() - 1) / ssd.requestsAtOnce();
        return rounds * latencyNanos(isWrite) + fastTransferNanos(isWrite, bytes);
    }

    /** Returns the time of a request to the fast tier whose pieces are requested one after another. */
    public long fastInTurnNanos(boolean isWrite, long bytes, long pieces) {
        return pieces * latencyNanos(isWrite) + fastTransferNanos(isWrite, bytes);
    }

    private long latencyNanos(boolean isWrite) {
        return isWrite ? ssd.writeLatencyNanos() : ssd.readLatencyNanos();
    }

    private long fastTransferNanos(boolean isWrite, long bytes) {
        return nanos(bytes, isWrite ? ssd.writeBytesPerSecond() : ssd.readBytesPerSecond());
    }

    /** Returns the time of the slow tier to read or write bytes with a number of seeks. */
    public long slowNanos(long bytes, double seeks) {
        double rate = (disk.outerBytesPerSecond() + disk.innerBytesPerSecond()) / 2;
        return Math.round(seeks * positionNanos()) + nanos(bytes, rate);
    }

    private long positionNanos() {
        return disk.overheadNanos()
                + Math.round(disk.seeks().averageMillis() * NANOS_PER_MILLI)
                + disk.revolutionNanos() / 2;
    }

    /** Returns the time to cut and fingerprint bytes, and to look up chunks. */
    public long dedupNanos(long bytes, long lookUps) {
        return nanos(bytes, dedup.cutBytesPerSecond()) + lookUps * dedup.lookUpNanos();
    }

    private static long nanos(long bytes, double bytesPerSecond) {
        return Math.round(bytes * NANOS_PER_SECOND / bytesPerSecond);
    }
}
