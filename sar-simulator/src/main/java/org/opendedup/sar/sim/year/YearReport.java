package org.opendedup.sar.sim.year;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** Shows the days of runs as text and as charts. */
final class YearReport {
    private static final double MB = 1e6;

    private static final String HEADING =
            "  day   logical    unique    stored   on disk  returned  arranged    copied  seconds"
                    + "    MB/s  restore  requests  disk MB";

    private YearReport() {}

    /** Returns the title of a run and the heading of its columns. */
    static List<String> heading(int everyDays, double garbageShare, double arrangeGain) {
        return List.of("", name(everyDays, garbageShare, arrangeGain) + "; MB, restore in MB/s", HEADING);
    }

    private static String name(int everyDays, double garbageShare, double arrangeGain) {
        if (everyDays == 0) {
            return "never collected";
        }
        String arranged = arrangeGain == 0 ? "" : String.format(Locale.ROOT, ", arranged for %.2f", arrangeGain);
        return String.format(
                Locale.ROOT, "collected each %d days to %s %%%s", everyDays, percent(garbageShare), arranged);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.3f", 100 * share).replaceFirst("\\.?0+$", "");
    }

    static String line(DayRow row) {
        String day = String.format(
                Locale.ROOT,
                "%5d %9.1f %9.1f %9.1f %9.1f",
                row.day(),
                row.logicalBytes() / MB,
                row.uniqueBytes() / MB,
                row.storedBytes() / MB,
                row.allocatedBytes() / MB);
        String collection = row.collectionSeconds() == 0
                ? String.format(Locale.ROOT, " %9s %9s %9s %8s %7s", "-", "-", "-", "-", "-")
                : String.format(
                        Locale.ROOT,
                        " %9.1f %9.1f %9.1f %8.2f %7.0f",
                        row.returnedBytes() / MB,
                        row.arrangedBytes() / MB,
                        row.copiedBytes() / MB,
                        row.collectionSeconds(),
                        row.victimBytes() / MB / row.collectionSeconds());
        return day
                + collection
                + String.format(
                        Locale.ROOT,
                        " %8.1f %9d %8.1f",
                        row.restoreBytesPerSecond() / MB,
                        row.restoreRequests(),
                        row.restoreDiskBytes() / MB);
    }

    static List<String> lines(RunSummary summary) {
        return List.of(
                String.format(
                        Locale.ROOT,
                        "stored %.1f MB, %.3f times a fresh volume of the same %d backups; on disk %.1f MB, %.3f times",
                        summary.storedBytes() / MB,
                        summary.storedRatio(),
                        summary.keptBackups(),
                        summary.allocatedBytes() / MB,
                        summary.allocatedRatio()),
                String.format(
                        Locale.ROOT,
                        "newest backup: %.1f MB/s with %d requests; fresh %.1f MB/s with %d requests",
                        summary.restoreBytesPerSecond() / MB,
                        summary.restoreRequests(),
                        summary.freshRestoreBytesPerSecond() / MB,
                        summary.freshRestoreRequests()),
                String.format(
                        Locale.ROOT,
                        "oldest backup: %.1f MB/s with %d requests; fresh %.1f MB/s with %d requests",
                        summary.oldestRestoreBytesPerSecond() / MB,
                        summary.oldestRestoreRequests(),
                        summary.freshOldestRestoreBytesPerSecond() / MB,
                        summary.freshOldestRestoreRequests()),
                String.format(
                        Locale.ROOT,
                        "collections returned %.1f MB; arrangements moved %.1f MB and collections wrote %.1f "
                                + "MB, in %.1f s",
                        summary.returnedBytes() / MB,
                        summary.arrangedBytes() / MB,
                        summary.copiedBytes() / MB,
                        summary.collectionSeconds()));
    }

    static Report of(List<Report.Fact> facts, List<DayRow> rows, List<RunSummary> summaries) {
        List<Line> sizes = new ArrayList<>();
        List<Line> speeds = new ArrayList<>();
        for (RunSummary run : summaries) {
            String name = name(run.collectEveryDays(), run.garbageShare(), run.arrangeGain());
            List<DayRow> days = rows.stream()
                    .filter(row -> row.collectEveryDays() == run.collectEveryDays()
                            && row.garbageShare() == run.garbageShare()
                            && row.arrangeGain() == run.arrangeGain())
                    .toList();
            sizes.add(line(Line.named(name), days, row -> row.storedBytes() / MB));
            speeds.add(line(Line.named(name), days, row -> row.restoreBytesPerSecond() / MB));
            if (run == summaries.get(0)) {
                sizes.add(line(Line.bound("", "without garbage"), days, YearReport::liveStoredMegabytes));
            }
        }
        return new Report(
                "A year of daily backups",
                true,
                facts,
                List.of(
                        Section.of(
                                "Size",
                                "Stored bytes at the end of each day, after its collection. 'without garbage' is the "
                                        + "share of the stored bytes that kept backups refer to, by the bytes before "
                                        + "compression.",
                                chart("space-year", "Stored size", "MB", sizes)),
                        Section.of(
                                "Restore",
                                "Predicted speed of a cold sequential read of the newest backup from a hard disk.",
                                chart("space-year-restore", "Restore of the newest backup", "MB/s", speeds)),
                        Section.of("Ends", "", Table.of("year-ends", summaries))),
                List.of(Table.of("year", rows), Table.of("year-ends", summaries)));
    }

    private static double liveStoredMegabytes(DayRow row) {
        return row.storedBytes() / MB * row.uniqueBytes() / Math.max(1, row.uniqueBytes() + row.garbageBytes());
    }

    private static Line line(Line.Builder line, List<DayRow> days, ToDoubleFunction<DayRow> value) {
        days.forEach(row -> line.add(row.day(), value.applyAsDouble(row)));
        return line.build();
    }

    private static Chart chart(String name, String title, String unit, List<Line> lines) {
        return new Chart(name, title, Axis.linear("day"), Axis.linear(unit), Chart.Mark.LINES, lines);
    }
}
