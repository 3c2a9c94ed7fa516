package org.opendedup.sar.sim.tddfs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.tddfs.design.Tiers;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.TierCosts;
import org.opendedup.sar.sim.tddfs.trace.FileTrace;
import org.opendedup.sar.sim.tddfs.trace.FileTraceText;
import org.opendedup.sar.sim.tddfs.trace.TraceGenerator;
import org.opendedup.sar.sim.tddfs.trace.TraceShape;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sar-sim tddfs}: the TDDFS paper's evaluation, or one trace, on models of its designs. */
@Command(
        name = "tddfs",
        sortOptions = false,
        description =
                "Replays a trace of files on two tiers with several designs, or computes the TDDFS paper's figures.",
        footer = {
            "",
            "The paper is Cao et al., TDDFS: A Tier-Aware Data Deduplication-Based File System (ACM TOS 2019).",
            "Memory: 1 GB; with --scale 1 and --figures set SAR_SIM_MEMORY=3g."
        })
public final class TddfsCommand extends SimCommand {
    private static final double PERCENT = 100;
    private static final double BYTES_PER_GB = 1e9;

    @ArgGroup(multiplicity = "1")
    Input input = new Input();

    /** What is replayed. */
    static final class Input {
        @Option(names = "--figures", description = "Compute Figures 5 to 7 of the paper, and check its statements.")
        boolean figures;

        @Option(
                names = "--figure",
                paramLabel = "NAME",
                split = ",",
                description = "Compute these figures: 5a to 5h, 6a to 6h, 7a, 7b.")
        List<String> figure = List.of();

        @Option(
                names = "--workload",
                paramLabel = "NAME",
                description = "Make a trace like one of the paper's: lab, var or syn.")
        @Nullable
        String workload;

        @Option(
                names = "--trace",
                paramLabel = "FILE",
                description = "Read a trace: lines such as file,NAME,SIZE and read,NAME,OFFSET,LENGTH.")
        @Nullable
        Path trace;
    }

    @Option(
            names = "--designs",
            paramLabel = "NAME",
            split = ",",
            description = "Designs: NoDedup, AllDedup, FastTierNoDedup, TDDFS, SlowTierOnly, TddfsSar, "
                    + "TddfsSarWrites. Default: all.")
    List<String> designs = DesignKind.labels();

    @Option(
            names = "--fast",
            paramLabel = "PERCENT",
            defaultValue = "25",
            description = "Fast tier, in percent of the files' bytes. Not with figures. Default: ${DEFAULT-VALUE}.")
    double fastPercent;

    @Option(
            names = "--ratio",
            paramLabel = "RATIO",
            description = "Deduplication ratio. Not with figures. Default: the workload's, or 3.")
    @Nullable
    Double ratio;

    @Option(
            names = "--reads",
            paramLabel = "PERCENT",
            description = "Reads, in percent of the requests of a workload. Not with figures. Default: the paper's.")
    @Nullable
    Double readPercent;

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "0.1",
            description = "Factor for files, requests and bytes of a made trace; 1 is the paper's size. "
                    + "Default: ${DEFAULT-VALUE}.")
    double scale;

    @Option(
            names = "--request-share",
            paramLabel = "SHARE",
            defaultValue = "1",
            description = "Longest request of lab and syn, as a share of its file. Default: ${DEFAULT-VALUE}.")
    double requestShare;

    @Option(
            names = "--duplicates",
            paramLabel = "file|all",
            defaultValue = "file",
            description = "Where a file's duplicates are: in the file itself, as the paper's emulation comes to, or "
                    + "anywhere. Default: ${DEFAULT-VALUE}.")
    String duplicates = "file";

    @Option(
            names = "--run",
            paramLabel = "CHUNKS",
            defaultValue = "1",
            description = "Length of a run of duplicates. Default: ${DEFAULT-VALUE}, as in the paper.")
    int runChunks;

    @Option(
            names = "--grain",
            paramLabel = "CHUNKS",
            defaultValue = "4",
            description = "Chunks of the paper that one chunk of the model stands for. Default: ${DEFAULT-VALUE}.")
    int grain;

    @Option(
            names = "--pending",
            paramLabel = "MIB",
            defaultValue = "64",
            description = "Migrations, in MiB, that requests may leave to later ones. Default: ${DEFAULT-VALUE}.")
    long pendingMiB;

    @Option(
            names = "--garbage",
            paramLabel = "PERCENT",
            defaultValue = "25",
            description = "Garbage, in percent of the slow tier, before it is collected. Default: ${DEFAULT-VALUE}.")
    double garbagePercent;

    @Option(
            names = "--assume",
            paramLabel = "NAME",
            split = ",",
            description = "Assume otherwise what the paper does not say: even-times, overwrites, all-dedup-files, "
                    + "off-peak, slow-index. Default: none.")
    List<String> assume = List.of();

    @Option(names = "--seed", defaultValue = "1", description = "Seed of trace and chunks. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Option(
            names = "--machine",
            paramLabel = "NAME|FILE",
            defaultValue = "tddfs",
            description = "Machine with the SSD and the disk: sar, lookahead, tddfs or a parameter file. "
                    + "Default: ${DEFAULT-VALUE}.")
    String machine = "tddfs";

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(
            names = "--csv",
            paramLabel = "FOLDER",
            description = "Write runs.csv and claims.csv to this folder: the rows of --report.")
    @Nullable
    Path csv;

    @Mixin
    ReportOption report = new ReportOption();

    @Override
    public Integer call() throws IOException {
        if (isSweep()) {
            refuse(List.of("--fast", "--ratio", "--reads"), "figures");
        } else if (input.trace != null) {
            refuse(List.of("--reads", "--scale", "--request-share"), "--trace");
        }
        TieringReport found;
        ReportFolder folder = report.folder();
        ReportFolder rowsFolder = csv == null ? null : new ReportFolder(csv);
        try {
            found = isSweep() ? sweep() : single();
        } catch (IllegalArgumentException e) {
            throw usage(e.getMessage());
        }
        out().print(json ? found.json() : found.text());
        out().flush();
        if (rowsFolder != null) {
            rowsFolder.writeCsv(found.tables());
        }
        if (folder != null) {
            folder.write(found.report(input.trace == null));
        }
        return 0;
    }

    private boolean isSweep() {
        return input.figures || !input.figure.isEmpty();
    }

    private TieringReport sweep() throws IOException {
        List<Figure> figures = input.figures
                ? List.of(Figure.values())
                : input.figure.stream().map(Figure::of).toList();
        SweepRunner runner = new SweepRunner(new SweepRunner.Settings(
                costs(),
                rules(),
                scope(),
                runChunks,
                grain,
                pendingMiB,
                scale,
                requestShare,
                seed,
                assumptions(),
                kinds()));
        Set<Sweep> sweeps = EnumSet.noneOf(Sweep.class);
        figures.forEach(figure -> sweeps.add(figure.sweep()));
        List<SweepRunner.Row> rows = new ArrayList<>();
        for (Sweep sweep : sweeps) {
            rows.addAll(runner.run(
                    sweep,
                    row -> err().printf(
                                    Locale.ROOT,
                                    "%s, %s %s: %s, %.1f MB/s%n",
                                    sweep.shape().label(),
                                    sweep.parameter().title(),
                                    row.value(),
                                    row.kind().label(),
                                    row.result().megabytesPerSecond())));
        }
        return TieringReport.ofSweeps(facts("synthetic, scale " + scale), figures, rows);
    }

    private TieringReport single() throws IOException {
        TraceShape shape = input.workload == null ? null : TraceShape.of(input.workload);
        FileTrace trace = shape == null ? FileTraceText.read(required(input.trace)) : make(shape);
        double usedRatio = ratio != null ? ratio : shape == null ? TraceShape.SYN.dedupRatio() : shape.dedupRatio();
        TieringRun.Settings settings = new TieringRun.Settings(
                costs(),
                rules(),
                fastPercent / PERCENT,
                new ChunkCutter.Sharing(usedRatio, scope(), runChunks, grain),
                pendingMiB,
                assumptions().contains(Assumption.OFF_PEAK),
                seed);
        List<TieringRun.Result> results = kinds().stream()
                .map(kind -> TieringRun.run(trace, kind, settings))
                .toList();
        List<Report.Fact> facts = new ArrayList<>(facts(String.format(
                Locale.ROOT,
                "%s%s, %d requests, %.1f GB of files, %.1f GB requested, %.1f %% reads",
                trace.isSynthetic() ? "synthetic, like " : "",
                trace.name(),
                trace.requests().size(),
                trace.totalBytes() / BYTES_PER_GB,
                trace.requestBytes() / BYTES_PER_GB,
                trace.readShare() * PERCENT)));
        facts.add(new Report.Fact("fast tier", fastPercent + " % of the files"));
        facts.add(new Report.Fact("deduplication ratio", Double.toString(usedRatio)));
        return TieringReport.ofTrace(facts, trace.name(), results);
    }

    private FileTrace make(TraceShape shape) {
        double reads = readPercent == null ? shape.readShare() : readPercent / PERCENT;
        return TraceGenerator.make(
                shape,
                new TraceGenerator.Mix(
                        scale,
                        reads,
                        requestShare,
                        seed,
                        assumptions().contains(Assumption.EVEN_TIMES),
                        assumptions().contains(Assumption.OVERWRITES)));
    }

    private static Path required(@Nullable Path path) {
        if (path == null) {
            throw new IllegalStateException("no input is named");
        }
        return path;
    }

    private TierCosts costs() throws IOException {
        return TierCosts.of(
                Machine.load(machine),
                assumptions().contains(Assumption.SLOW_INDEX) ? TierCosts.Dedup.SLOW_INDEX : TierCosts.Dedup.ASSUMED);
    }

    private Tiers.Rules rules() {
        if (!(garbagePercent >= 0 && garbagePercent <= PERCENT) || pendingMiB < 0) {
            throw new IllegalArgumentException("garbage is 0 to 100 %, not " + garbagePercent
                    + "; pending migrations are 0 MiB or more, not " + pendingMiB);
        }
        return Tiers.Rules.USUAL.with(garbagePercent / PERCENT, assumptions().contains(Assumption.ALL_DEDUP_FILES));
    }

    private ChunkCutter.Scope scope() {
        return switch (duplicates) {
            case "file" -> ChunkCutter.Scope.FILE;
            case "all" -> ChunkCutter.Scope.ALL;
            default -> throw new IllegalArgumentException("duplicates are 'file' or 'all', not '" + duplicates + "'");
        };
    }

    private Set<Assumption> assumptions() {
        Set<Assumption> assumed = EnumSet.noneOf(Assumption.class);
        assume.forEach(name -> assumed.add(Assumption.of(name)));
        return assumed;
    }

    private List<DesignKind> kinds() {
        return designs.stream().map(DesignKind::of).toList();
    }

    private List<Report.Fact> facts(String trace) {
        return List.of(
                new Report.Fact("trace", trace),
                new Report.Fact("assumed", assume.isEmpty() ? "-" : String.join(", ", assume)),
                new Report.Fact("seed", Long.toString(seed)),
                new Report.Fact("machine", machine),
                new Report.Fact("duplicates", duplicates + ", in runs of " + runChunks),
                new Report.Fact("grain", Integer.toString(grain)),
                new Report.Fact("longest request", requestShare + " of its file"));
    }
}
