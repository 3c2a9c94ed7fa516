package org.opendedup.sar.sim.tddfs;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/**
 * The results of {@code sar-sim tddfs}, to be printed.
 *
 * @param facts parameters of all runs
 * @param figures figures of the paper that were asked for; none for a single trace
 * @param runs all runs, as flat rows
 * @param claims what the paper says, compared; none for a single trace
 */
record TieringReport(
        List<Report.Fact> facts,
        List<Figure> figures,
        List<SweepRunner.Row> sweeps,
        List<Run> runs,
        List<Claims.Claim> claims) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * A run, flat.
     *
     * @param parameter parameter of the sweep; empty for a single trace
     * @param value its value; 0 for a single trace
     */
    record Run(
            String trace,
            String parameter,
            double value,
            String design,
            double megabytesPerSecond,
            double meanMillis,
            long downBytes,
            long upBytes,
            long downReadBytes,
            long downWrittenBytes,
            long upReadBytes,
            long upWrittenBytes,
            long recipeBytes,
            long fastBytes,
            long slowBytes,
            long fileBytes,
            double dollarsPerGb,
            double requestSeconds,
            double drainSeconds) {
        static Run of(String trace, String parameter, double value, TieringRun.Result result) {
            return new Run(
                    trace,
                    parameter,
                    value,
                    result.design(),
                    result.megabytesPerSecond(),
                    result.meanMillis(),
                    result.downBytes(),
                    result.upBytes(),
                    result.traffic().downRead(),
                    result.traffic().downWritten(),
                    result.traffic().upRead(),
                    result.traffic().upWritten(),
                    result.traffic().recipeBytes(),
                    result.fastBytes(),
                    result.slowBytes(),
                    result.fileBytes(),
                    result.dollarsPerGb(),
                    result.requestSeconds(),
                    result.drainSeconds());
        }

        static Run of(SweepRunner.Row row) {
            return of(row.sweep().shape().label(), row.sweep().parameter().title(), row.value(), row.result());
        }
    }

    /** Returns the result of sweeps. */
    static TieringReport ofSweeps(List<Report.Fact> facts, List<Figure> figures, List<SweepRunner.Row> rows) {
        return new TieringReport(
                facts, figures, rows, rows.stream().map(Run::of).toList(), Claims.check(figures, rows));
    }

    /** Returns the result of runs of one trace. */
    static TieringReport ofTrace(List<Report.Fact> facts, String trace, List<TieringRun.Result> results) {
        List<Run> runs =
                results.stream().map(result -> Run.of(trace, "", 0, result)).toList();
        return new TieringReport(facts, List.of(), List.of(), runs, List.of());
    }

    // --- text ---

    String text() {
        StringBuilder text = new StringBuilder();
        facts.forEach(fact -> text.append(String.format(Locale.ROOT, "%s: %s%n", fact.name(), fact.value())));
        figures.forEach(figure -> text.append(String.format("%n")).append(text(figure)));
        if (figures.isEmpty()) {
            text.append(String.format("%n")).append(runsText());
        }
        if (!claims.isEmpty()) {
            text.append(String.format("%nWhat the paper says:%n"));
        }
        claims.forEach(claim -> text.append(String.format(
                Locale.ROOT,
                "  %-7s %s%n          %s: %.3f, limit %.2f%n",
                claim.isMet() ? "met" : "NOT MET",
                claim.statement(),
                claim.compared(),
                claim.value(),
                claim.limit())));
        return text.toString();
    }

    private String text(Figure figure) {
        Sweep sweep = figure.sweep();
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "Figure %s: %s, %s%n%-32s",
                figure.label(),
                figure.title(),
                figure.metric().unit(),
                sweep.parameter().title()));
        sweep.points().forEach(value -> text.append(String.format(Locale.ROOT, " %9s", number(value))));
        text.append(String.format("%n"));
        for (DesignKind kind : kinds(sweep)) {
            text.append(String.format(Locale.ROOT, "  %-30s", kind.label()));
            rowsOf(sweep, kind)
                    .forEach(row -> text.append(String.format(
                            Locale.ROOT,
                            figure.metric() == Figure.Metric.DOLLARS ? " %9.4f" : " %9.2f",
                            figure.metric().of(row.result()))));
            text.append(String.format("%n"));
        }
        return text.toString();
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString(Math.round(value)) : Double.toString(value);
    }

    private List<DesignKind> kinds(Sweep sweep) {
        return sweeps.stream()
                .filter(row -> row.sweep() == sweep)
                .map(SweepRunner.Row::kind)
                .distinct()
                .toList();
    }

    private List<SweepRunner.Row> rowsOf(Sweep sweep, DesignKind kind) {
        return sweeps.stream()
                .filter(row -> row.sweep() == sweep && row.kind() == kind)
                .toList();
    }

    private String runsText() {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%-16s %9s %10s %10s %10s %9s %9s %9s%n",
                "design",
                "MB/s",
                "ms",
                "down, GB",
                "up, GB",
                "fast, GB",
                "slow, GB",
                "$ a GB"));
        runs.forEach(run -> text.append(String.format(
                Locale.ROOT,
                "%-16s %9.1f %10.3f %10.3f %10.3f %9.3f %9.3f %9.4f%n",
                run.design(),
                run.megabytesPerSecond(),
                run.meanMillis(),
                run.downBytes() / 1e9,
                run.upBytes() / 1e9,
                run.fastBytes() / 1e9,
                run.slowBytes() / 1e9,
                run.dollarsPerGb())));
        return text.toString();
    }

    // --- JSON, CSV and charts ---

    String json() throws IOException {
        ObjectNode root = JSON.createObjectNode();
        ObjectNode parameters = root.putObject("parameters");
        facts.forEach(fact -> parameters.put(fact.name(), fact.value()));
        root.set("runs", JSON.valueToTree(runs));
        root.set("claims", JSON.valueToTree(claims));
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    List<Table> tables() {
        Table all = Table.of("runs", runs);
        return claims.isEmpty() ? List.of(all) : List.of(all, Table.of("claims", claims));
    }

    Report report(boolean isSynthetic) {
        List<Section> sections = new ArrayList<>();
        for (Figure figure : figures) {
            sections.add(Section.of("Figure " + figure.label(), "", chart(figure)));
        }
        List<Table> tables = tables();
        sections.add(Section.of("All runs", "", tables.get(0)));
        if (tables.size() > 1) {
            sections.add(Section.of("What the paper says", "", tables.get(1)));
        }
        return new Report("The TDDFS paper's evaluation", isSynthetic, facts, sections, tables);
    }

    private Chart chart(Figure figure) {
        Sweep sweep = figure.sweep();
        List<Line> lines = new ArrayList<>();
        for (DesignKind kind : kinds(sweep)) {
            Line.Builder line = Line.named(kind.label());
            rowsOf(sweep, kind)
                    .forEach(row -> line.add(row.value(), figure.metric().of(row.result())));
            lines.add(line.build());
        }
        return new Chart(
                "tddfs-figure-" + figure.label(),
                figure.title(),
                Axis.linear(sweep.parameter().title()),
                Axis.linear(figure.metric().unit()),
                Chart.Mark.DOTS,
                lines);
    }
}
