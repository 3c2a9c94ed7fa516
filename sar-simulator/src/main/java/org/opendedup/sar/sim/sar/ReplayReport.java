package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.sim.block.FiuTrace;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** Reports the results of {@code sar-sim sar} for one trace, as charts. */
final class ReplayReport {
    private ReplayReport() {}

    static Report of(SarReport found) {
        ReplayRows rows = found.rows();
        ReplayCharts charts = new ReplayCharts(List.of(found.replayed()));
        List<Table> tables = rows.tables();
        boolean hasReads =
                found.systems().stream().anyMatch(row -> row.result().reads().requests() > 0);
        List<Section> sections = new ArrayList<>();
        if (hasReads) {
            sections.add(Section.of(
                    "Response",
                    "",
                    charts.meanResponse(),
                    charts.distribution("response-distribution"),
                    charts.responseOverTime("response-over-time")));
        }
        sections.add(Section.of(
                "Requests to disks", "", charts.diskRequests(), charts.requestsOverTime("disk-requests-over-time")));
        if (hasReads && charts.hasSsd()) {
            sections.add(Section.of("Share of the SSD", "", charts.ssdShare("ssd-share")));
        }
        sections.add(Section.of("Energy and memory", "", charts.energy("energy"), charts.memory("memory")));
        sections.add(Section.of("All figures", "", tables.get(0)));
        if (found.synthetic()) {
            sections.add(Section.of("Calibration", "What the synthetic trace was calibrated to.", rows.calibration()));
        }
        return new Report("Replay on storage systems", found.synthetic(), facts(found), sections, tables);
    }

    private static List<Report.Fact> facts(SarReport found) {
        List<Report.Fact> facts = new ArrayList<>(List.of(
                new Report.Fact("trace", found.trace()),
                new Report.Fact("machine", found.machine()),
                new Report.Fact("warmed up", found.warmDays() + " days"),
                new Report.Fact("replayed", found.window() + (found.readsOnly() ? ", reads only" : "")),
                new Report.Fact("time scale", String.valueOf(found.timeScale())),
                new Report.Fact("threshold", found.threshold() + " references"),
                new Report.Fact("references", found.counting())));
        FiuTrace.Counters reader = found.reader();
        if (reader != null) {
            facts.add(new Report.Fact(
                    "read",
                    reader.lines() + " lines, " + reader.badLines() + " bad, " + reader.duplicates() + " repeated; "
                            + reader.requests() + " requests"));
        }
        return facts;
    }
}
