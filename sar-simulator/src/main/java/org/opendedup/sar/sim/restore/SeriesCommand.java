package org.opendedup.sar.sim.restore;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;
import org.opendedup.sar.sim.trace.ChunkTraceWriter;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sar-sim series}: makes a synthetic chunk trace. */
@Command(
        name = "series",
        sortOptions = false,
        description = {
            "Makes a synthetic series of full backups, as a chunk trace for restore.",
            "",
            "Each version is the one before with runs of chunks replaced, added and removed at random. The same",
            "options make the same series. Prints the size and the share of new data of each version.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  sar-sim series --out long.trace --versions 20 && sar-sim restore --trace long.trace --version 20"
        })
public final class SeriesCommand extends SimCommand {
    @Option(names = "--out", required = true, paramLabel = "FILE", description = "File to write the trace to.")
    Path out = Path.of("");

    @Option(
            names = "--versions",
            paramLabel = "N",
            defaultValue = "20",
            description = "Number of versions. Default: ${DEFAULT-VALUE}.")
    int versions;

    @Option(
            names = "--chunks",
            paramLabel = "N",
            defaultValue = "100000",
            description = "Chunks in the first version, 8 KiB on average. Default: ${DEFAULT-VALUE}.")
    int chunks;

    @Option(
            names = "--run",
            paramLabel = "N",
            defaultValue = "40",
            description = "Average number of chunks in a run. Default: ${DEFAULT-VALUE}.")
    int run;

    @Option(
            names = "--changed",
            paramLabel = "S",
            defaultValue = "0.03",
            description = "Share of the runs that a version replaces. Default: ${DEFAULT-VALUE}.")
    double changed;

    @Option(
            names = "--added",
            paramLabel = "S",
            defaultValue = "0.015",
            description = "Share of the runs after which a version inserts a new run. Default: ${DEFAULT-VALUE}.")
    double added;

    @Option(
            names = "--removed",
            paramLabel = "S",
            defaultValue = "0.01",
            description = "Share of the runs that a version removes. Default: ${DEFAULT-VALUE}.")
    double removed;

    @Option(
            names = "--duplicates",
            paramLabel = "S",
            defaultValue = "0.05",
            description = "Share of the new runs that repeat chunks of the series. Default: ${DEFAULT-VALUE}.")
    double duplicates;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the series. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Mixin
    ReportOption report = new ReportOption();

    @Override
    public Integer call() throws IOException {
        PrintWriter printed = out();
        SeriesParameters parameters =
                checked(() -> new SeriesParameters(versions, chunks, run, changed, added, removed, duplicates, seed));
        ReportFolder folder = report.folder();
        printed.println("Synthetic: " + parameters);
        List<VersionRow> rows = new ArrayList<>();
        try (var trace = new Reporting(new ChunkTraceWriter(out), printed, rows)) {
            DriftingSeries.emit(parameters, trace);
        }
        if (folder != null) {
            folder.write(report(parameters, rows));
        }
        return 0;
    }

    /** @param newBytes bytes of chunks that no earlier version has */
    private record VersionRow(int version, long bytes, long newBytes) {}

    private static Report report(SeriesParameters parameters, List<VersionRow> rows) {
        Line.Builder line = Line.named("new data");
        rows.forEach(row -> line.add(row.version(), 100.0 * row.newBytes() / Math.max(1, row.bytes())));
        Chart chart = new Chart(
                "new-data",
                "New data of each version",
                Axis.linear("version"),
                Axis.linear("%"),
                Chart.Mark.DOTS,
                List.of(line.build()));
        return new Report(
                "A series of full backups",
                true,
                List.of(new Report.Fact("series", parameters.toString())),
                List.of(Section.of("Versions", "", chart)),
                List.of(Table.of("versions", rows)));
    }

    /** Writes a trace and reports the new data of each version. */
    private static final class Reporting implements ChunkTraceVisitor, AutoCloseable {
        private final ChunkTraceWriter trace;
        private final PrintWriter report;
        private final List<VersionRow> rows;
        private int version;
        private long bytes;
        private long newBytes;
        /** Highest fingerprint up to now; new chunks have higher ones. */
        private long highest;

        Reporting(ChunkTraceWriter trace, PrintWriter report, List<VersionRow> rows) {
            this.trace = trace;
            this.report = report;
            this.rows = rows;
        }

        @Override
        public void version(int number) throws IOException {
            reportVersion();
            version = number;
            bytes = 0;
            newBytes = 0;
            trace.version(number);
        }

        @Override
        public void chunk(long fingerprint, int length) throws IOException {
            bytes += length;
            if (fingerprint > highest) {
                highest = fingerprint;
                newBytes += length;
            }
            trace.chunk(fingerprint, length);
        }

        private void reportVersion() {
            if (version > 0) {
                rows.add(new VersionRow(version, bytes, newBytes));
                report.printf(
                        Locale.ROOT,
                        "version %3d: %9s, %5.1f %% new%n",
                        version,
                        ByteSize.rounded(bytes),
                        100.0 * newBytes / Math.max(1, bytes));
            }
        }

        @Override
        public void close() throws IOException {
            reportVersion();
            trace.close();
            report.flush();
        }
    }
}
