package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.block.BlockTrace;
import org.opendedup.sar.sim.device.Simulation;

/** Replays one trace on several systems in turn (SAR paper §4.3, Figures 7 to 11). */
final class Evaluation {
    private final Replay.Settings settings;
    private final TraceSource source;
    private final int threshold;
    private final DedupMap.Counting counting;
    private final List<Row> rows = new ArrayList<>();

    /** Opens the trace again for each system. */
    @FunctionalInterface
    interface TraceSource {
        BlockTrace open() throws IOException;
    }

    /**
     * One system's result.
     *
     * @param ssdBytes 0 without an SSD
     * @param speedupOverDedupe mean response of reads: that of deduplication alone, divided by this; null if that was
     *     not run
     */
    record Row(String system, long ssdBytes, @Nullable Double speedupOverDedupe, SystemResult result) {}

    Evaluation(Replay.Settings settings, TraceSource source, int threshold, DedupMap.Counting counting) {
        this.settings = settings;
        this.source = source;
        this.threshold = threshold;
        this.counting = counting;
    }

    /** Runs the systems without an SSD once, the others with each size; reports each row when it is complete. */
    List<Row> run(List<SystemKind> kinds, List<Long> ssdSizes, Consumer<Row> progress) throws IOException {
        for (SystemKind kind : kinds) {
            for (long ssdBytes : kind.hasSsd() ? ssdSizes : List.of(0L)) {
                Row row = row(kind, ssdBytes);
                rows.add(row);
                progress.accept(row);
            }
        }
        return List.copyOf(rows);
    }

    private Row row(SystemKind kind, long ssdBytes) throws IOException {
        DiskPlaces places =
                new DiskPlaces(settings.machine().newArray(new Simulation()).capacityBytes());
        try (BlockTrace trace = source.open();
                StorageSystem system = kind.create(places, ssdBytes, threshold, counting)) {
            SystemResult result = Replay.run(settings, system, trace);
            return new Row(kind.label(), ssdBytes, speedup(kind, result), result);
        }
    }

    private @Nullable Double speedup(SystemKind kind, SystemResult result) {
        double mean = result.reads().meanMs();
        if (kind == SystemKind.DEDUPE) {
            return 1.0;
        }
        return rows.stream()
                .filter(row -> row.system().equals(SystemKind.DEDUPE.label()) && mean > 0)
                .map(row -> row.result().reads().meanMs() / mean)
                .findFirst()
                .orElse(null);
    }
}
