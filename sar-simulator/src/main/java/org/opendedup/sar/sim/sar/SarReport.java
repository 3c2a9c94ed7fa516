package org.opendedup.sar.sim.sar;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.block.Calibration;
import org.opendedup.sar.sim.block.FiuTrace;

/**
 * What an evaluation found, to be printed.
 *
 * @param trace which one; of a synthetic one it says so
 * @param calibration how near a synthetic trace comes to the one that it is like; null for a real one
 * @param reader what was read of a real one; null for a synthetic one
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record SarReport(
        String trace,
        boolean synthetic,
        @Nullable List<Calibration.Match> calibration,
        FiuTrace.@Nullable Counters reader,
        String machine,
        int warmDays,
        String window,
        boolean readsOnly,
        double timeScale,
        int threshold,
        String counting,
        List<Evaluation.Row> systems) {

    private static final String SUMMARY_HEAD =
            "trace,system,ssdBytes,reads,readMeanMs,readP50Ms,readP95Ms,readP99Ms,writes,writeMeanMs,speedupOverDedupe,"
                    + "diskRequests,ssdShareOfBytes,ssdShareOfReads,joules,memoryBytes\n";
    private static final String SERIES_HEAD =
            "trace,system,ssdBytes,minutes,reads,meanReadMs,writes,meanWriteMs,arrayRequests,ssdReads,ssdShare\n";

    /** With what was found. */
    SarReport with(List<Evaluation.Row> rows, FiuTrace.@Nullable Counters counters) {
        return new SarReport(
                trace,
                synthetic,
                calibration,
                counters,
                machine,
                warmDays,
                window,
                readsOnly,
                timeScale,
                threshold,
                counting,
                rows);
    }

    String json() throws IOException {
        return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(this) + "\n";
    }

    /** Writes {@code summary.csv}, a line a system, and {@code series.csv}, a line a system and part of the time. */
    void writeCsv(Path folder) throws IOException {
        Files.createDirectories(folder);
        StringBuilder summary = new StringBuilder(SUMMARY_HEAD);
        StringBuilder series = new StringBuilder(SERIES_HEAD);
        for (Evaluation.Row row : systems) {
            summary.append(summaryLine(row));
            row.result().series().forEach(point -> series.append(seriesLine(row, point)));
        }
        Files.writeString(folder.resolve("summary.csv"), summary);
        Files.writeString(folder.resolve("series.csv"), series);
    }

    private String summaryLine(Evaluation.Row row) {
        SystemResult result = row.result();
        return String.format(
                Locale.ROOT,
                "\"%s\",%s,%d,%d,%.4f,%.4f,%.4f,%.4f,%d,%.4f,%s,%d,%.4f,%.4f,%.0f,%d%n",
                trace,
                row.system(),
                row.ssdBytes(),
                result.reads().requests(),
                result.reads().meanMs(),
                result.reads().p50Ms(),
                result.reads().p95Ms(),
                result.reads().p99Ms(),
                result.writes().requests(),
                result.writes().meanMs(),
                row.speedupOverDedupe() == null ? "" : String.format(Locale.ROOT, "%.3f", row.speedupOverDedupe()),
                result.disks().requests(),
                result.ssdShareOfBytes(),
                result.ssdShareOfReads(),
                result.joules(),
                result.memoryBytes());
    }

    private String seriesLine(Evaluation.Row row, Series.Point point) {
        return String.format(
                Locale.ROOT,
                "\"%s\",%s,%d,%.1f,%d,%.4f,%d,%.4f,%d,%d,%.4f%n",
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

    /** What comes before the rows. */
    String head() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "trace: %s%nmachine %s, warmed up with %d days, replayed %s%s, time scale %s, threshold %d, references %s%n",
                trace,
                machine,
                warmDays,
                window,
                readsOnly ? " (reads only)" : "",
                timeScale,
                threshold,
                counting));
        if (calibration != null) {
            text.append(String.format(Locale.ROOT, "synthetic: what it was calibrated to%n"));
            calibration.forEach(match -> text.append(String.format(
                    Locale.ROOT,
                    "  %-45s published %12.4f  reached %12.4f  %+6.1f %%  (%s)%n",
                    match.statistic(),
                    match.published(),
                    match.reached(),
                    match.deviationPercent(),
                    match.source())));
        }
        return text.append(String.format(
                        Locale.ROOT,
                        "%-14s %8s %9s %9s %9s %9s %9s %9s %9s %10s %8s %8s %9s %9s%n",
                        "system",
                        "SSD",
                        "reads",
                        "mean ms",
                        "p50",
                        "p95",
                        "p99",
                        "write ms",
                        "x dedupe",
                        "disk req.",
                        "SSD byt.",
                        "SSD rds.",
                        "kJ",
                        "memory"))
                .toString();
    }

    /** What comes after them. */
    String foot() {
        return reader == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "read: %d lines, %d bad, %d repeated, %d archive headers; %d requests%n",
                        reader.lines(),
                        reader.badLines(),
                        reader.duplicates(),
                        reader.archiveHeaders(),
                        reader.requests());
    }

    static String line(Evaluation.Row row) {
        SystemResult result = row.result();
        return String.format(
                Locale.ROOT,
                "%-14s %8s %9d %9.3f %9.3f %9.3f %9.3f %9.3f %9s %10d %7.1f%% %7.1f%% %9.1f %9s%n",
                row.system(),
                row.ssdBytes() == 0 ? "-" : ByteSize.exact(row.ssdBytes()),
                result.reads().requests(),
                result.reads().meanMs(),
                result.reads().p50Ms(),
                result.reads().p95Ms(),
                result.reads().p99Ms(),
                result.writes().meanMs(),
                row.speedupOverDedupe() == null ? "-" : String.format(Locale.ROOT, "%.2f", row.speedupOverDedupe()),
                result.disks().requests(),
                100 * result.ssdShareOfBytes(),
                100 * result.ssdShareOfReads(),
                result.joules() / 1000,
                ByteSize.rounded(result.memoryBytes()));
    }
}
