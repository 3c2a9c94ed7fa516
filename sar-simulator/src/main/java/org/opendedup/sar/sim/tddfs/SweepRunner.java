package org.opendedup.sar.sim.tddfs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.opendedup.sar.sim.tddfs.design.Tiers;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.TierCosts;
import org.opendedup.sar.sim.tddfs.trace.FileTrace;
import org.opendedup.sar.sim.tddfs.trace.TraceGenerator;

/** Runs the designs over the values of a sweep, on synthetic traces. */
final class SweepRunner {
    private final Settings settings;

    /**
     * What all sweeps have in common.
     *
     * @param scale factor for files, requests and bytes of the traces
     * @param requestShare most that a request of lab and syn covers, as a share of its file
     * @param runChunks consecutive duplicates that are consecutive where they were first stored
     * @param grain chunks of the paper that one chunk of the model stands for
     */
    record Settings(
            TierCosts costs,
            Tiers.Rules rules,
            ChunkCutter.Scope scope,
            int runChunks,
            int grain,
            long pendingMiB,
            double scale,
            double requestShare,
            long seed,
            Set<Assumption> assumptions,
            List<DesignKind> designs) {}

    /**
     * A run of a sweep.
     *
     * @param value value of the parameter
     */
    record Row(Sweep sweep, double value, DesignKind kind, TieringRun.Result result) {}

    SweepRunner(Settings settings) {
        this.settings = settings;
    }

    /**
     * Runs a sweep.
     *
     * @param done told of each run
     */
    List<Row> run(Sweep sweep, Consumer<Row> done) {
        List<Row> rows = new ArrayList<>();
        for (double value : sweep.points()) {
            FileTrace trace = TraceGenerator.make(
                    sweep.shape(),
                    new TraceGenerator.Mix(
                            settings.scale(),
                            sweep.readShare(value),
                            settings.requestShare(),
                            settings.seed(),
                            settings.assumptions().contains(Assumption.EVEN_TIMES),
                            settings.assumptions().contains(Assumption.OVERWRITES)));
            TieringRun.Settings run = new TieringRun.Settings(
                    settings.costs(),
                    settings.rules(),
                    sweep.fastShare(value),
                    new ChunkCutter.Sharing(
                            sweep.dedupRatio(value), settings.scope(), settings.runChunks(), settings.grain()),
                    settings.pendingMiB(),
                    settings.assumptions().contains(Assumption.OFF_PEAK),
                    settings.seed());
            for (DesignKind kind : settings.designs()) {
                Row row = new Row(sweep, value, kind, TieringRun.run(trace, kind, run));
                rows.add(row);
                done.accept(row);
            }
        }
        return rows;
    }
}
