package org.opendedup.sar.sim.tddfs;

import org.opendedup.sar.sim.tddfs.design.Design;
import org.opendedup.sar.sim.tddfs.design.Tiers;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.TierCosts;
import org.opendedup.sar.sim.tddfs.tier.Traffic;
import org.opendedup.sar.sim.tddfs.trace.FileRequest;
import org.opendedup.sar.sim.tddfs.trace.FileTrace;

/**
 * Replays a trace on a design: first writes all files of the start in their order, which counts neither as time nor as
 * migration, then the requests, each as soon as the one before is done (TDDFS paper, section 5.1). No state.
 */
public final class TieringRun {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private TieringRun() {}

    /**
     * What a run depends on, beside trace and design.
     *
     * @param fastShare bytes that may be in use on the fast tier, as a share of the files' bytes at the start
     * @param pendingMiB background work that requests may leave to later ones, in MiB
     * @param isOffPeak whether migrations take no time
     * @param seed seed of the chunks
     */
    public record Settings(
            TierCosts costs,
            Tiers.Rules rules,
            double fastShare,
            ChunkCutter.Sharing sharing,
            long pendingMiB,
            boolean isOffPeak,
            long seed) {
        public Settings {
            if (!(fastShare > 0 && fastShare <= 1)) {
                throw new IllegalArgumentException(
                        "the fast tier's share is " + fastShare + "; it must be above 0, up to 1");
            }
        }
    }

    /**
     * The result of a run.
     *
     * @param megabytesPerSecond bytes of all requests by the time of all requests (section 5.1), in 10^6 bytes
     * @param meanMillis mean time of a request
     * @param downBytes bytes migrated to the slow tier, the mean of both ends
     * @param upBytes bytes migrated to the fast tier, the mean of both ends
     * @param traffic bytes at each end
     * @param fastBytes bytes in use on the fast tier at the end
     * @param slowBytes likewise on the slow tier
     * @param fileBytes bytes of the files at the end
     * @param requestSeconds time of all requests
     * @param drainSeconds time that the background work takes after the last request
     */
    public record Result(
            String design,
            double megabytesPerSecond,
            double meanMillis,
            long downBytes,
            long upBytes,
            Traffic.Totals traffic,
            long fastBytes,
            long slowBytes,
            long fileBytes,
            double requestSeconds,
            double drainSeconds) {
        /** Price of a GB on the fast tier, in dollars (section 5.4). */
        static final double FAST_DOLLARS = 1;
        /** Price of a GB on the slow tier, in dollars (section 5.4). */
        static final double SLOW_DOLLARS = 0.04;

        /** Returns the price of the space in use for each GB of files, in dollars. */
        public double dollarsPerGb() {
            return (fastBytes * FAST_DOLLARS + slowBytes * SLOW_DOLLARS) / fileBytes;
        }

        /** Returns the bytes migrated in both directions. */
        public long migratedBytes() {
            return downBytes + upBytes;
        }
    }

    /** Runs a trace on a design. */
    public static Result run(FileTrace trace, DesignKind kind, Settings settings) {
        TierClock clock = new TierClock(
                settings.costs(), settings.sharing().grain(), settings.pendingMiB(), settings.isOffPeak());
        Traffic traffic = new Traffic();
        long limit = Math.round(trace.totalBytes() * settings.fastShare());
        Design design =
                kind.make(new Tiers(clock, traffic, limit, settings.rules(), settings.sharing(), settings.seed()));
        FileSizes sizes = new FileSizes();
        long[] start = trace.sizes();
        for (int file = 0; file < start.length; file++) {
            if (start[file] > 0) {
                design.create(file, start[file]);
                sizes.set(file, start[file]);
            }
        }
        traffic.reset();
        clock.start();
        for (FileRequest request : trace.requests()) {
            replay(request, design, sizes);
        }
        double seconds = clock.nowNanos() / NANOS_PER_SECOND;
        return new Result(
                kind.label(),
                trace.requestBytes() / seconds / 1e6,
                clock.nowNanos()
                        / NANOS_PER_MILLI
                        / Math.max(1, trace.requests().size()),
                traffic.totals().downBytes(),
                traffic.totals().upBytes(),
                traffic.totals(),
                design.fastBytes(),
                design.slowBytes(),
                sizes.total(),
                seconds,
                clock.drain() / NANOS_PER_SECOND);
    }

    private static void replay(FileRequest request, Design design, FileSizes sizes) {
        int file = request.file();
        switch (request.kind()) {
            case READ -> design.read(file, request.offset(), request.length());
            case WRITE -> {
                design.write(file, request.offset(), request.length());
                sizes.grow(file, request.end());
            }
            case CREATE -> {
                design.create(file, request.length());
                sizes.set(file, request.length());
            }
            case DELETE -> {
                design.delete(file);
                sizes.set(file, 0);
            }
        }
    }
}
