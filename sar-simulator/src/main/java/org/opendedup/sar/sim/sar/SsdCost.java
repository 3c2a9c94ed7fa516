package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.sim.block.TraceProfile;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/**
 * Weighs what an SSD costs against what it gains (SAR paper §4.5.1): the price of disks and SSD over that of the disks
 * alone, and the mean response of reads of deduplication alone over that with the SSD.
 */
final class SsdCost {
    private static final int PERCENT = 100;
    /** The paper has storage and SSD in the same GB (Tables I and II); a profile has 10^9 bytes and 2^30. */
    private static final double STORAGE_UNIT = (double) (1 << 30) / 1_000_000_000;

    private final double priceRatio;
    private final List<Row> rows = new ArrayList<>();

    /**
     * One system with one size of its SSD.
     *
     * @param ssdPercent bytes of the SSD, in percent of those of the storage
     * @param costTimes price of disks and SSD, as a multiple of that of the disks
     * @param timesFaster mean response of reads of deduplication alone, as a multiple of that of this system
     * @param timesFasterPerCost the latter over the former; above 1 the SSD gains more than it costs
     */
    record Row(
            String trace,
            String system,
            long ssdBytes,
            double ssdPercent,
            double costTimes,
            double timesFaster,
            double timesFasterPerCost) {}

    /** @param priceRatio price of a byte of SSD, as a multiple of that of a byte of disk */
    SsdCost(double priceRatio) {
        this.priceRatio = priceRatio;
    }

    /** Adds the systems with an SSD of a replay. */
    void add(TraceProfile profile, ReplayRows.Replayed replayed) {
        for (Evaluation.Row row : replayed.rows()) {
            Double faster = row.speedupOverDedupe();
            if (row.ssdBytes() > 0 && faster != null) {
                double share = row.ssdBytes() / (profile.fileSystemBytes() * STORAGE_UNIT);
                double cost = 1 + priceRatio * share;
                rows.add(new Row(
                        replayed.name(), row.system(), row.ssdBytes(), PERCENT * share, cost, faster, faster / cost));
            }
        }
    }

    Table table() {
        return Table.of("cost", rows);
    }

    Section section() {
        return new Section(
                "§4.5.1: what the SSD costs",
                "A byte of SSD costs " + priceRatio
                        + " times a byte of disk; the storage is that of the paper's Table I."
                        + " Published, for web-vm with the largest SSD: 1.57 times the cost, 28.18 times faster, so"
                        + " 17.95 times faster for the money. Above the dashed line the SSD gains more than it costs.",
                List.of(chart()),
                List.of(table()));
    }

    private Chart chart() {
        List<Line> lines = new ArrayList<>();
        for (String trace : rows.stream().map(Row::trace).distinct().toList()) {
            List<Row> ofTrace =
                    rows.stream().filter(row -> row.trace().equals(trace)).toList();
            double most = ofTrace.stream().mapToDouble(Row::costTimes).max().orElse(1);
            lines.add(Line.bound(trace, "gain as high as cost")
                    .add(1, 1)
                    .add(most, most)
                    .build());
            for (String system : ofTrace.stream().map(Row::system).distinct().toList()) {
                Line.Builder line = Line.named(trace, system);
                ofTrace.stream()
                        .filter(row -> row.system().equals(system))
                        .forEach(row -> line.add(row.costTimes(), row.timesFaster()));
                lines.add(line.build());
            }
        }
        return new Chart(
                "sar-cost",
                "Gain of reads by cost",
                Axis.linear("cost, times that of the disks"),
                Axis.linear("times faster than Dedupe"),
                Chart.Mark.DOTS,
                lines);
    }
}
