package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;

/** Shows replays as charts, with a panel for each trace (SAR paper §4.3, Figures 7 to 11). */
final class ReplayCharts {
    private static final double MINUTES_PER_HOUR = 60;
    private static final int MIB = 1 << 20;
    private static final double BYTES_PER_MB = 1e6;
    private static final double JOULES_PER_KILOJOULE = 1000;
    /** Smallest response shown, in milliseconds; shorter ones, of memory alone, have no place on a logarithmic axis. */
    private static final double LEAST_MS = 0.01;

    private final List<ReplayRows.Replayed> traces;

    ReplayCharts(List<ReplayRows.Replayed> traces) {
        this.traces = traces;
    }

    /** Returns the mean response of reads, by system and size of the SSD. */
    Chart meanResponse() {
        return bars(
                "mean-response",
                "Mean response of reads",
                "ms",
                row -> row.result().reads().meanMs());
    }

    Chart diskRequests() {
        return bars(
                "disk-requests",
                "Requests that the disks served",
                "requests",
                row -> row.result().disks().requests());
    }

    /** Returns the energy of array and SSD. */
    Chart energy(String name) {
        return bars(name, "Energy of disks and SSD", "kJ", row -> row.result().joules() / JOULES_PER_KILOJOULE);
    }

    /** Returns the memory of the SSD's tables. */
    Chart memory(String name) {
        return bars(
                name, "Memory of the SSD's tables", "MB", row -> row.result().memoryBytes() / BYTES_PER_MB);
    }

    /**
     * Returns the mean response of reads as a multiple of that of Native: the paper's Figure 7, and with Cache its
     * Figure 11.
     */
    Chart normalisedResponse(String name, String title, List<SystemKind> kinds) {
        List<Line> lines = new ArrayList<>();
        for (ReplayRows.Replayed trace : traces) {
            double ofNative = first(trace, SystemKind.NATIVE).result().reads().meanMs();
            lines.addAll(bars(trace, kinds, row -> row.result().reads().meanMs() / ofNative));
        }
        return new Chart(
                name, title, Axis.names("system"), Axis.linear("response, times Native's"), Chart.Mark.BARS, lines);
    }

    /** Returns the distribution of the responses of reads, with the largest SSD. */
    Chart distribution(String name) {
        return curves(
                name,
                "Distribution of the responses of reads, largest SSD",
                Axis.log10("response of a read, ms"),
                Axis.linear("reads that take no longer, %"),
                Chart.Mark.DOTS,
                (row, line) -> row.result()
                        .readQuantiles()
                        .forEach(each -> line.add(Math.max(LEAST_MS, each.ms()), each.percent())));
    }

    /** Returns the paper's Figure 8. Parts of the time without reads have no point. */
    Chart responseOverTime(String name) {
        return curves(
                name,
                "Mean response of reads over the replayed time, largest SSD",
                Axis.linear("hours"),
                Axis.log10("ms"),
                Chart.Mark.LINES,
                (row, line) -> row.result().series().stream()
                        .filter(point -> point.reads() > 0)
                        .forEach(point ->
                                line.add(point.minutes() / MINUTES_PER_HOUR, Math.max(LEAST_MS, point.meanReadMs()))));
    }

    /** Returns the paper's Figure 9. */
    Chart requestsOverTime(String name) {
        return curves(
                name,
                "Requests to the array of disks over the replayed time, largest SSD",
                Axis.linear("hours"),
                Axis.linear("requests"),
                Chart.Mark.LINES,
                (row, line) -> row.result()
                        .series()
                        .forEach(
                                point -> line.add(point.minutes() / MINUTES_PER_HOUR, (double) point.arrayRequests())));
    }

    /** Returns the paper's Figure 10. */
    Chart ssdShare(String name) {
        List<Line> lines = new ArrayList<>();
        for (ReplayRows.Replayed trace : traces) {
            for (SystemKind kind :
                    kinds(trace).stream().filter(SystemKind::hasSsd).toList()) {
                Line.Builder line = Line.named(panel(trace), kind.label());
                of(trace, kind)
                        .forEach(row -> line.add(
                                (double) row.ssdBytes() / MIB,
                                100 * row.result().ssdShareOfReads()));
                lines.add(line.build());
            }
        }
        return new Chart(
                name,
                "Reads that the SSD serves alone",
                Axis.log2("SSD, MiB"),
                Axis.linear("reads, %"),
                Chart.Mark.DOTS,
                lines);
    }

    /** Returns whether any system has an SSD. */
    boolean hasSsd() {
        return traces.stream().anyMatch(trace -> kinds(trace).stream().anyMatch(SystemKind::hasSsd));
    }

    private Chart bars(String name, String title, String unit, ToDoubleFunction<Evaluation.Row> value) {
        List<Line> lines = new ArrayList<>();
        traces.forEach(trace -> lines.addAll(bars(trace, kinds(trace), value)));
        return new Chart(name, title, Axis.names("system"), Axis.linear(unit), Chart.Mark.BARS, lines);
    }

    /** Returns a line for each size of the SSD, with a bar for each system. */
    private List<Line> bars(ReplayRows.Replayed trace, List<SystemKind> kinds, ToDoubleFunction<Evaluation.Row> value) {
        List<Long> sizes = trace.rows().stream()
                .map(Evaluation.Row::ssdBytes)
                .distinct()
                .sorted()
                .toList();
        List<Line> lines = new ArrayList<>();
        for (long size : sizes) {
            Line.Builder line = Line.named(panel(trace), sizeLabel(sizes, size));
            for (SystemKind kind : kinds) {
                of(trace, kind).stream()
                        .filter(row -> row.ssdBytes() == size)
                        .forEach(row -> line.add(kind.label(), value.applyAsDouble(row)));
            }
            Line built = line.build();
            if (!built.points().isEmpty()) {
                lines.add(built);
            }
        }
        return lines;
    }

    /**
     * Returns the label of a size. Each trace has its own sizes; with several traces they are numbered, as in the
     * paper's Table II.
     */
    private String sizeLabel(List<Long> sizes, long size) {
        if (size == 0) {
            return "no SSD";
        }
        int number = sizes.indexOf(size) + (sizes.get(0) == 0 ? 0 : 1);
        return traces.size() == 1 ? ByteSize.exact(size) : "SSD (" + number + ")";
    }

    /** Adds the points of a system to a line. */
    @FunctionalInterface
    private interface Curve {
        void emit(Evaluation.Row row, Line.Builder line);
    }

    /** Returns a line for each system, with its largest SSD. */
    private Chart curves(String name, String title, Axis x, Axis y, Chart.Mark mark, Curve curve) {
        List<Line> lines = new ArrayList<>();
        for (ReplayRows.Replayed trace : traces) {
            for (SystemKind kind : kinds(trace)) {
                Evaluation.Row largest = of(trace, kind).stream()
                        .max(Comparator.comparingLong(Evaluation.Row::ssdBytes))
                        .orElseThrow();
                Line.Builder line = Line.named(panel(trace), kind.label());
                curve.emit(largest, line);
                lines.add(line.build());
            }
        }
        return new Chart(name, title, x, y, mark, lines);
    }

    private static List<Evaluation.Row> of(ReplayRows.Replayed trace, SystemKind kind) {
        return trace.rows().stream()
                .filter(row -> row.system().equals(kind.label()))
                .toList();
    }

    private static Evaluation.Row first(ReplayRows.Replayed trace, SystemKind kind) {
        return of(trace, kind).get(0);
    }

    private static List<SystemKind> kinds(ReplayRows.Replayed trace) {
        return trace.rows().stream()
                .map(row -> SystemKind.of(row.system()))
                .distinct()
                .toList();
    }

    private String panel(ReplayRows.Replayed trace) {
        return traces.size() == 1 ? "" : trace.name();
    }
}
