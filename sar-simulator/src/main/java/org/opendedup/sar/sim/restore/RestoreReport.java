package org.opendedup.sar.sim.restore;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** Reports the results of {@code sar-sim restore} as charts. */
final class RestoreReport {
    private static final String FLOOR = "floor";

    private final List<RestoreRow> rows;

    private RestoreReport(List<RestoreRow> rows) {
        this.rows = rows;
    }

    static Report of(List<Report.Fact> facts, List<RestoreRow> rows) {
        return new RestoreReport(rows).report(facts);
    }

    private Report report(List<Report.Fact> facts) {
        int last = rows.get(rows.size() - 1).version();
        return new Report(
                "Container reads of restores",
                false,
                facts,
                List.of(
                        Section.of(
                                "By memory",
                                "Container reads of version " + last
                                        + " by the cache's memory. The floor is each container once.",
                                byMemory(last)),
                        Section.of(
                                "By version",
                                "Container reads of each version, by memory.",
                                byVersion(
                                        "restore-reads-by-version",
                                        "Container reads by version",
                                        "container reads",
                                        Axis.Scale.LOG10,
                                        RestoreRow::containerReads,
                                        true)),
                        Section.of(
                                "Speed factor",
                                "MiB restored for each container read (Lillibridge et al., FAST '13).",
                                byVersion(
                                        "restore-speed-factor",
                                        "Speed factor by version",
                                        "MiB for each container read",
                                        Axis.Scale.LINEAR,
                                        RestoreRow::speedFactor,
                                        false))),
                List.of(Table.of("restore", rows)));
    }

    private Chart byMemory(int version) {
        List<RestoreRow> shown =
                rows.stream().filter(row -> row.version() == version).toList();
        List<Line> lines = new ArrayList<>();
        for (String policy : policies()) {
            Line.Builder line = Line.named(policy);
            shown.stream()
                    .filter(row -> row.policy().equals(policy))
                    .forEach(row -> addAboveZero(line, row.cacheContainers(), row.containerReads()));
            lines.add(line.build());
        }
        Line.Builder floor = Line.bound("", FLOOR);
        memories().forEach(memory -> addAboveZero(floor, memory, shown.get(0).floor()));
        lines.add(floor.build());
        return new Chart(
                "restore-reads-by-memory",
                "Container reads of version " + version + " by memory",
                Axis.log2("memory, containers"),
                Axis.log10("container reads"),
                Chart.Mark.DOTS,
                lines);
    }

    private Chart byVersion(
            String name,
            String title,
            String unit,
            Axis.Scale scale,
            ToDoubleFunction<RestoreRow> value,
            boolean withFloor) {
        List<Line> lines = new ArrayList<>();
        for (int memory : memories()) {
            String panel = memories().size() == 1 ? "" : "memory of " + memory;
            for (String policy : policies()) {
                Line.Builder line = Line.named(panel, policy);
                at(memory, policy).forEach(row -> addAboveZero(line, row.version(), value.applyAsDouble(row)));
                lines.add(line.build());
            }
            if (withFloor) {
                Line.Builder floor = Line.bound(panel, FLOOR);
                at(memory, policies().get(0)).forEach(row -> addAboveZero(floor, row.version(), row.floor()));
                lines.add(floor.build());
            }
        }
        return new Chart(name, title, Axis.linear("version"), new Axis(unit, scale), Chart.Mark.DOTS, lines);
    }

    /** Adds a point above 0: a version without chunks needs no reads, which a logarithmic axis cannot show. */
    private static void addAboveZero(Line.Builder line, double x, double y) {
        if (y > 0) {
            line.add(x, y);
        }
    }

    private List<RestoreRow> at(int memory, String policy) {
        return rows.stream()
                .filter(row -> row.cacheContainers() == memory && row.policy().equals(policy))
                .toList();
    }

    private List<String> policies() {
        return rows.stream().map(RestoreRow::policy).distinct().toList();
    }

    private List<Integer> memories() {
        return rows.stream().map(RestoreRow::cacheContainers).distinct().toList();
    }
}
