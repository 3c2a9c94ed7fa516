package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.block.Calibration;
import org.opendedup.sar.sim.block.SyntheticTrace;
import org.opendedup.sar.sim.block.TraceProfile;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sar-sim paper sar}: Figures 1, 3 and 7 to 12 of the SAR paper, and its analysis of costs (§4.5.1). */
@Command(
        name = "sar",
        sortOptions = false,
        description = {
            "Computes Figures 1, 3 and 7 to 12 of the SAR paper, energy and memory, and what an SSD costs and gains.",
            "",
            "The paper is Mao et al., Read-Performance Optimization for "
                    + "Deduplication-Based Storage Systems in the Cloud",
            "(ACM TOS 2014).",
            "",
            "Replays synthetic traces like web-vm, homes and mail on the paper's machine: warms up for seven days,",
            "replays the paper's hours of the eighth day, and uses the paper's sizes of the SSD. For the original",
            "traces: sar-sim sar --trace FILE --report FOLDER.",
            ""
        },
        footer = {"", "Memory: 1 GB. Runs for some minutes and prints its progress to the standard error."})
public final class SarPaperCommand extends SimCommand {
    private static final String MACHINE = "sar";
    private static final int WEEK_DAYS = 7;
    private static final int THRESHOLD = 5;
    private static final long BUCKET_NANOS = 600_000_000_000L;
    private static final List<SystemKind> WITHOUT_CACHE =
            List.of(SystemKind.NATIVE, SystemKind.DEDUPE, SystemKind.SAR, SystemKind.SAR_COST);

    @Option(
            names = "--report",
            required = true,
            paramLabel = "FOLDER",
            description = "Folder for report.html, the rows and the charts.")
    Path report = Path.of("");

    @Option(
            names = "--traces",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "web-vm,homes,mail",
            description = "Traces to make, separated by commas. Default: ${DEFAULT-VALUE}.")
    List<String> traces = List.of();

    @Option(
            names = "--warm",
            paramLabel = "DAYS",
            defaultValue = "7",
            description = "Days of warming up, 0 to 7. Default: ${DEFAULT-VALUE}, as in the paper.")
    int warmDays;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the traces. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Option(
            names = "--image-scale",
            paramLabel = "PART",
            defaultValue = "1",
            description = "Size of the disk images of Figures 1 and 12, as a part of the paper's. Default: "
                    + "${DEFAULT-VALUE}.")
    double imageScale;

    @Option(
            names = "--cost",
            arity = "0..1",
            paramLabel = "TIMES",
            fallbackValue = "20",
            description =
                    "Weigh the gain of the SSD against its price: a byte of SSD costs this many times a byte of disk. "
                            + "Without a number 20, as in the paper.")
    double priceRatio;

    @Option(
            names = "--with-writes",
            description = "Charge the devices for writes. Without it, writes only change what is stored.")
    boolean withWrites;

    @Override
    public Integer call() throws IOException {
        require(imageScale > 0 && imageScale <= 1, "--image-scale is above 0, up to 1, not " + imageScale);
        require(priceRatio >= 0, "--cost is 0 or more, not " + priceRatio);
        require(warmDays >= 0 && warmDays <= WEEK_DAYS, "--warm is 0 to 7, not " + warmDays);
        List<TraceProfile> profiles =
                checked(() -> traces.stream().map(TraceProfile::named).toList());
        ReportFolder folder = new ReportFolder(report);
        List<ReplayRows.Replayed> replayed = new ArrayList<>();
        for (TraceProfile profile : profiles) {
            replayed.add(replay(profile));
        }
        DeviceCharts devices = new DeviceCharts(Machine.load(MACHINE));
        ImageRestores restores = ImageRestores.run(
                Machine.load(MACHINE),
                imageScale,
                seed,
                row -> err().printf(
                                Locale.ROOT, "restore of %s: %s, %.1f s%n", row.image(), row.system(), row.seconds()));
        SsdCost cost = new SsdCost(priceRatio);
        for (int i = 0; i < profiles.size(); i++) {
            cost.add(profiles.get(i), replayed.get(i));
        }
        folder.write(report(replayed, devices, restores, cost));
        return 0;
    }

    private ReplayRows.Replayed replay(TraceProfile profile) throws IOException {
        Replay.Settings settings = new Replay.Settings(
                Machine.load(MACHINE),
                Window.parse(profile.window(), warmDays),
                !withWrites,
                1,
                BUCKET_NANOS,
                Replay.MANY_UNDER_WAY);
        Evaluation evaluation = new Evaluation(
                settings, () -> new SyntheticTrace(profile, warmDays + 1, seed), THRESHOLD, DedupMap.Counting.EVER);
        List<Long> sizes = profile.ssdSizes().stream().map(ByteSize::parse).toList();
        List<Evaluation.Row> rows = evaluation.run(
                List.of(SystemKind.values()),
                sizes,
                row -> err().printf(
                                Locale.ROOT,
                                "synthetic, like %s: %s%s, %.2f ms%n",
                                profile.name(),
                                row.system(),
                                row.ssdBytes() == 0 ? "" : " with " + ByteSize.exact(row.ssdBytes()),
                                row.result().reads().meanMs()));
        return new ReplayRows.Replayed("like " + profile.name(), Calibration.of(profile, seed), rows);
    }

    private Report report(
            List<ReplayRows.Replayed> replayed, DeviceCharts devices, ImageRestores restores, SsdCost cost) {
        ReplayRows rows = new ReplayRows(replayed);
        ReplayCharts charts = new ReplayCharts(replayed);
        List<Table> tables = new ArrayList<>(rows.tables());
        tables.add(devices.table());
        tables.add(restores.table());
        String sizes = "SSD (1) to (3) are the sizes of the paper's Table II.";
        List<Section> sections = new ArrayList<>(List.of(
                devices.section(),
                restores.section(),
                Section.of(
                        "Figure 7: response of reads",
                        sizes
                                + " Published, with the largest SSD: 28.18, 1.14 and 3.44 times faster than Dedupe;"
                                + " Dedupe 45.8, 29.7 and 49.6 % slower than Native.",
                        charts.normalisedResponse("sar-figure-7", "Figure 7: mean response of reads", WITHOUT_CACHE)),
                Section.of(
                        "Distribution of the responses", "Not in the paper.", charts.distribution("sar-distribution")),
                Section.of("Figure 8: response over time", "", charts.responseOverTime("sar-figure-8")),
                Section.of("Figure 9: requests to the disks", "", charts.requestsOverTime("sar-figure-9")),
                Section.of(
                        "Figure 10: share of the SSD",
                        "Published, with the largest SSD: 95.88, 14.51 and 49.59 %.",
                        charts.ssdShare("sar-figure-10")),
                Section.of(
                        "Figure 11: beside an SSD cache",
                        sizes + " The paper compares with SSD (2).",
                        charts.normalisedResponse(
                                "sar-figure-11", "Figure 11: mean response of reads", List.of(SystemKind.values()))),
                Section.of(
                        "Energy and memory",
                        "The paper leaves energy as future work.",
                        charts.energy("sar-energy"),
                        charts.memory("sar-memory")),
                Section.of("All figures", "", tables.get(0)),
                Section.of("Calibration", "What the synthetic traces were calibrated to.", rows.calibration())));
        if (priceRatio > 0) {
            tables.add(cost.table());
            sections.add(1, cost.section());
        }
        return new Report("The SAR paper's figures", true, facts(), sections, tables);
    }

    private List<Report.Fact> facts() {
        return List.of(
                new Report.Fact("traces", "synthetic, like " + String.join(", ", traces) + ", seed " + seed),
                new Report.Fact("machine", MACHINE + ": RAID 5 of eight disks, one SSD"),
                new Report.Fact("warmed up", warmDays + " days"),
                new Report.Fact("replayed", "the hours of the paper's Table I" + (withWrites ? "" : ", reads only")),
                new Report.Fact("threshold", THRESHOLD + " references, all that there ever were"));
    }
}
