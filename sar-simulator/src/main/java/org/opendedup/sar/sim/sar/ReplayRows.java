package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.block.Calibration;
import org.opendedup.sar.sim.report.Table;

/** Converts replays to flat rows, for JSON and CSV. */
final class ReplayRows {
    private final List<Replayed> traces;

    /**
     * A trace and its results.
     *
     * @param name short name, such as {@code web-vm}; says so if it is synthetic
     * @param calibration null for a real trace
     */
    record Replayed(String name, @Nullable List<Calibration.Match> calibration, List<Evaluation.Row> rows) {}

    /** One system with one size of its SSD. Times are milliseconds; shares are 0 to 1. */
    record SystemRow(
            String trace,
            String system,
            long ssdBytes,
            long reads,
            double readMeanMs,
            double readP50Ms,
            double readP90Ms,
            double readP95Ms,
            double readP99Ms,
            double readP999Ms,
            double readMaxMs,
            long writes,
            double writeMeanMs,
            @Nullable Double speedupOverDedupe,
            long diskRequests,
            double ssdShareOfBytes,
            double ssdShareOfReads,
            double joules,
            long memoryBytes) {

        static SystemRow of(String trace, Evaluation.Row row) {
            SystemResult result = row.result();
            Responses.Summary reads = result.reads();
            return new SystemRow(
                    trace,
                    row.system(),
                    row.ssdBytes(),
                    reads.requests(),
                    reads.meanMs(),
                    reads.p50Ms(),
                    reads.p90Ms(),
                    reads.p95Ms(),
                    reads.p99Ms(),
                    reads.p999Ms(),
                    reads.maxMs(),
                    result.writes().requests(),
                    result.writes().meanMs(),
                    row.speedupOverDedupe(),
                    result.disks().requests(),
                    result.ssdShareOfBytes(),
                    result.ssdShareOfReads(),
                    result.joules(),
                    result.memoryBytes());
        }
    }

    /** A part of the replayed time. */
    record SeriesRow(
            String trace,
            String system,
            long ssdBytes,
            double minutes,
            long reads,
            double meanReadMs,
            long writes,
            double meanWriteMs,
            long arrayRequests,
            long ssdReads,
            double ssdShareOfBytes) {

        static SeriesRow of(String trace, Evaluation.Row row, Series.Point point) {
            return new SeriesRow(
                    trace,
                    row.system(),
                    row.ssdBytes(),
                    point.minutes(),
                    point.reads(),
                    point.meanReadMs(),
                    point.writes(),
                    point.meanWriteMs(),
                    point.arrayRequests(),
                    point.ssdReads(),
                    point.ssdShare());
        }
    }

    /** The response that a percentage of the reads did not exceed. */
    record QuantileRow(String trace, String system, long ssdBytes, double percent, double readMs) {}

    /** A statistic of a synthetic trace, and its published value. */
    record CalibrationRow(
            String trace, String statistic, double published, double reached, double deviationPercent, String source) {}

    ReplayRows(List<Replayed> traces) {
        this.traces = traces;
    }

    List<Table> tables() {
        List<SystemRow> systems = new ArrayList<>();
        List<SeriesRow> series = new ArrayList<>();
        List<QuantileRow> quantiles = new ArrayList<>();
        for (Replayed trace : traces) {
            for (Evaluation.Row row : trace.rows()) {
                systems.add(SystemRow.of(trace.name(), row));
                row.result().series().forEach(point -> series.add(SeriesRow.of(trace.name(), row, point)));
                row.result()
                        .readQuantiles()
                        .forEach(each -> quantiles.add(new QuantileRow(
                                trace.name(), row.system(), row.ssdBytes(), each.percent(), each.ms())));
            }
        }
        List<Table> tables = new ArrayList<>(
                List.of(Table.of("systems", systems), Table.of("series", series), Table.of("quantiles", quantiles)));
        if (traces.stream().anyMatch(trace -> trace.calibration() != null)) {
            tables.add(calibration());
        }
        return tables;
    }

    /** Returns the comparison of the synthetic traces with the published statistics of those that they imitate. */
    Table calibration() {
        List<CalibrationRow> rows = new ArrayList<>();
        for (Replayed trace : traces) {
            for (Calibration.Match match :
                    trace.calibration() == null ? List.<Calibration.Match>of() : trace.calibration()) {
                rows.add(new CalibrationRow(
                        trace.name(),
                        match.statistic(),
                        match.published(),
                        match.reached(),
                        match.deviationPercent(),
                        match.source()));
            }
        }
        return Table.of("calibration", rows);
    }
}
