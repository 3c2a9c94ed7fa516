package org.opendedup.sar.sim.restore;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.trace.ChunkTraceReader;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;

/**
 * Backups for the lookahead paper's figures: a trace, or a synthetic series like one of the paper's sets.
 *
 * @param published published figures of the set; null for a trace
 * @param series null for a trace
 * @param trace null for a series
 */
record BackupSet(
        String name,
        @Nullable Published published,
        @Nullable SeriesParameters series,
        @Nullable Path trace) {
    /**
     * Stored bytes over backed up ones (Table 1).
     *
     * @param all ratio of all versions
     * @param versions ratio of each version
     */
    record Published(double all, List<Double> versions) {
        static Published of(double all, Double... versions) {
            return new Published(all, List.of(versions));
        }
    }

    /**
     * Returns six series, in the paper's order. Their sizes, versions and new data are those of its Tables 1 and 2; new
     * data of the later versions is the same in each. The length of runs of new data was not published: 40 chunks are
     * used, and 5 for ds-5 and ds-6, whose containers are mostly used below 5 % (Fig. 3) and which have duplicates
     * within the first version.
     *
     * @param chunks number of chunks of a first version
     */
    static List<BackupSet> likeThePapers(int chunks, long seed) {
        return List.of(
                like(
                        "ds-1",
                        Published.of(0.29, 0.999, 0.035, 0.069, 0.056, 0.312),
                        new Drift(5, 40, 0.08, 0.04, 0.001),
                        chunks,
                        seed),
                like(
                        "ds-2",
                        Published.of(0.37, 1.0, 0.280, 0.247, 0.149, 0.206),
                        new Drift(5, 40, 0.15, 0.07, 0),
                        chunks,
                        seed),
                like(
                        "ds-3",
                        Published.of(0.97, 0.996, 0.952, 0.977, 0.973, 0.966),
                        new Drift(5, 40, 0.95, 0.02, 0.004),
                        chunks,
                        seed),
                like(
                        "ds-4",
                        Published.of(0.50, 0.905, 0.554, 0.636, 0.208, 0.206),
                        new Drift(5, 40, 0.30, 0.14, 0.095),
                        chunks,
                        seed),
                like(
                        "ds-5",
                        Published.of(0.20, 0.841, 0.033, 0.025, 0.119, 0.026),
                        new Drift(5, 5, 0.04, 0.02, 0.159),
                        chunks,
                        seed),
                like("ds-6", Published.of(0.38, 0.544, 0.224), new Drift(2, 5, 0.28, 0.13, 0.456), chunks, seed));
    }

    /** As in {@link SeriesParameters}; the same number of runs is removed as is added. */
    private record Drift(int versions, int runChunks, double changed, double added, double duplicates) {}

    private static BackupSet like(String name, Published published, Drift drift, int chunks, long seed) {
        SeriesParameters series = new SeriesParameters(
                drift.versions(),
                chunks,
                drift.runChunks(),
                drift.changed(),
                drift.added(),
                drift.added(),
                drift.duplicates(),
                seed);
        return new BackupSet("like " + name, published, series, null);
    }

    static BackupSet of(Path trace) {
        return new BackupSet(String.valueOf(trace.getFileName()), null, null, trace);
    }

    /** Reports the backups to the visitor. */
    void emit(ChunkTraceVisitor visitor) throws IOException {
        if (series != null) {
            DriftingSeries.emit(series, visitor);
        } else if (trace != null) {
            ChunkTraceReader.read(trace, visitor);
        }
    }
}
