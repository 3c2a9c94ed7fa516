package org.opendedup.sar.sim.sar;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.block.Calibration;
import org.opendedup.sar.sim.block.FiuTrace;

/**
 * The results of an evaluation, to be printed.
 *
 * @param trace name of the trace; of a synthetic one it says so
 * @param calibration comparison of a synthetic trace with the one that it imitates; null for a real one
 * @param reader counters of reading a real trace; null for a synthetic one
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SarReport(
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

    /** Returns this report with the results. */
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

    /** Returns the figures as flat rows. */
    ReplayRows rows() {
        return new ReplayRows(List.of(replayed()));
    }

    ReplayRows.Replayed replayed() {
        return new ReplayRows.Replayed(trace, calibration, systems);
    }

    /** Returns the text ahead of the rows. */
    String head() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "trace: %s%n"
                        + "machine %s, warmed up with %d days, replayed %s%s, time scale "
                        + "%s, threshold %d, references %s%n",
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

    /** Returns the text after the rows. */
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
