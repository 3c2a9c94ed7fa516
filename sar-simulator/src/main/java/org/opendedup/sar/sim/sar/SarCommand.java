package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.BlockTrace;
import org.opendedup.sar.sim.block.Calibration;
import org.opendedup.sar.sim.block.FiuTrace;
import org.opendedup.sar.sim.block.SyntheticTrace;
import org.opendedup.sar.sim.block.TraceProfile;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.ReportFolder;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sar-sim sar}: runs the SAR paper's evaluation on a real or a synthetic trace. */
@Command(
        name = "sar",
        description = "Replays a block trace on several storage systems and prints their response times.")
public final class SarCommand extends SimCommand {
    private static final long MINUTE_NANOS = 60_000_000_000L;
    private static final double MOST_SCALE = 1000;
    private static final int MOST_DAYS = 10_000;
    private static final int MOST_BUCKET_MINUTES = 1440;
    private static final long MOST_SSD_BYTES = 1L << 42;

    @ArgGroup(multiplicity = "1")
    Input input = new Input();

    /** The source of requests. */
    static final class Input {
        @Option(
                names = "--trace",
                paramLabel = "FILE",
                split = ",",
                description = "Read FIU block traces (web-vm, homes, mail) in this order, plain or as .gz.")
        List<Path> files = List.of();

        @Option(
                names = "--synthetic",
                paramLabel = "NAME",
                description = "Make a synthetic trace like web-vm, homes or mail, from its published figures.")
        @Nullable
        String synthetic;
    }

    @Option(
            names = "--keep-duplicates",
            description = "Keep lines that repeat the line before. Without it, they are dropped.")
    boolean keepDuplicates;

    @Option(names = "--seed", defaultValue = "1", description = "Seed of a synthetic trace. Default: ${DEFAULT-VALUE}.")
    long seed = 1;

    @Option(
            names = "--warm",
            paramLabel = "DAYS",
            defaultValue = "7",
            description = "Days of warming up. Default: ${DEFAULT-VALUE}.")
    int warmDays = 7;

    @Option(
            names = "--window",
            paramLabel = "H:MM-H:MM",
            description =
                    "Hours to replay of the day after the warm-up. Default: the paper's for a synthetic trace, else "
                            + "all.")
    @Nullable
    String window;

    @Option(
            names = "--ssd",
            paramLabel = "SIZE",
            split = ",",
            description = "Sizes of the SSD. Default: those of the paper for a synthetic trace.")
    List<String> ssdSizes = List.of();

    @Option(
            names = "--systems",
            paramLabel = "NAME",
            split = ",",
            description = "Systems: native, dedupe, cache-lba, cache-content, sar, sar-cost. Default: all.")
    List<String> systems = SystemKind.labels();

    @Option(
            names = "--machine",
            paramLabel = "NAME|FILE",
            defaultValue = "sar",
            description = "Machine to model: sar, lookahead, tddfs or a parameter file. Default: ${DEFAULT-VALUE}.")
    String machine = "sar";

    @Option(
            names = "--threshold",
            defaultValue = "5",
            description = "Number of references from which the paper's rule promotes. Default: ${DEFAULT-VALUE}.")
    int threshold = 5;

    @Option(
            names = "--references",
            paramLabel = "ever|now",
            defaultValue = "ever",
            description = "References to count: ever (all there ever were, as in the paper) or now (those that exist). "
                    + "Default: ${DEFAULT-VALUE}.")
    String references = "ever";

    @Option(
            names = "--time-scale",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description =
                    "Factor for the times between requests: 0.5 replays twice as fast. Default: ${DEFAULT-VALUE}.")
    double timeScale = 1;

    @Option(
            names = "--reads-only",
            description = "Charge the devices nothing for writes, as if an unlimited cache took them.")
    boolean readsOnly;

    @Option(
            names = "--bucket",
            paramLabel = "MINUTES",
            defaultValue = "10",
            description = "Step of the time series, in minutes. Default: ${DEFAULT-VALUE}.")
    int bucketMinutes = 10;

    @Option(names = "--json", description = "Print JSON, with the time series.")
    boolean json;

    @Option(
            names = "--csv",
            paramLabel = "FOLDER",
            description = "Write systems.csv, series.csv and quantiles.csv to this folder: the rows of --report.")
    @Nullable
    Path csv;

    @Mixin
    ReportOption report = new ReportOption();

    /** The trace as read for the last system; all systems get the same one. */
    private @Nullable FiuTrace lastRead;

    @Override
    public Integer call() throws IOException {
        if (input.synthetic != null) {
            refuse(List.of("--keep-duplicates"), "--synthetic");
        } else {
            refuse(List.of("--seed"), "--trace");
        }
        Prepared prepared;
        try {
            prepared = prepare();
        } catch (IllegalArgumentException e) {
            throw usage(e.getMessage());
        }
        run(prepared);
        return 0;
    }

    /** The checked arguments. */
    private record Prepared(
            @Nullable TraceProfile profile,
            String hours,
            List<SystemKind> kinds,
            List<Long> ssdSizes,
            Evaluation evaluation) {}

    private Prepared prepare() throws IOException {
        TraceProfile profile = input.synthetic == null ? null : TraceProfile.named(input.synthetic);
        String hours = window != null ? window : profile != null ? profile.window() : Window.WHOLE_DAY;
        List<SystemKind> kinds = systems.stream().map(SystemKind::of).toList();
        Evaluation evaluation = new Evaluation(
                settings(hours),
                () -> open(profile),
                (int) within("the threshold", threshold, 1, Integer.MAX_VALUE),
                counting());
        return new Prepared(profile, hours, kinds, sizes(profile, kinds), evaluation);
    }

    private void run(Prepared prepared) throws IOException {
        ReportFolder folder = report.folder();
        ReportFolder rowsFolder = csv == null ? null : new ReportFolder(csv);
        SarReport head = head(prepared.profile(), prepared.hours());
        show(head.head());
        List<Evaluation.Row> rows =
                prepared.evaluation().run(prepared.kinds(), prepared.ssdSizes(), row -> show(SarReport.line(row)));
        SarReport found = head.with(rows, counters());
        show(found.foot());
        if (json) {
            printJson(found);
            out().flush();
        }
        if (rowsFolder != null) {
            rowsFolder.writeCsv(found.rows().tables());
        }
        if (folder != null) {
            folder.write(ReplayReport.of(found));
        }
    }

    /** Prints a part of the table as soon as it is complete, unless JSON is wanted. */
    private void show(String text) {
        if (!json) {
            out().print(text);
            out().flush();
        }
    }

    private Replay.Settings settings(String hours) throws IOException {
        if (!(timeScale > 0 && timeScale <= MOST_SCALE)) {
            throw new IllegalArgumentException("the time scale is " + timeScale + "; it must be above 0, up to 1000");
        }
        int days = (int) within("the days of warming up", warmDays, 0, MOST_DAYS);
        return new Replay.Settings(
                Machine.load(machine),
                Window.parse(hours, days),
                readsOnly,
                timeScale,
                within("the step of the series", bucketMinutes, 1, MOST_BUCKET_MINUTES) * MINUTE_NANOS,
                Replay.MANY_UNDER_WAY);
    }

    private static long within(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " cannot be " + value + ", but " + least + " to " + most);
        }
        return value;
    }

    private DedupMap.Counting counting() {
        return switch (references) {
            case "ever" -> DedupMap.Counting.EVER;
            case "now" -> DedupMap.Counting.NOW;
            default -> throw new IllegalArgumentException("references are 'ever' or 'now', not '" + references + "'");
        };
    }

    private List<Long> sizes(@Nullable TraceProfile profile, List<SystemKind> kinds) {
        List<String> texts = ssdSizes.isEmpty() && profile != null ? profile.ssdSizes() : ssdSizes;
        if (texts.isEmpty() && kinds.stream().anyMatch(SystemKind::hasSsd)) {
            throw new IllegalArgumentException("state the size of the SSD, such as --ssd 500MB,2GB");
        }
        return texts.stream()
                .map(text -> within("the SSD", ByteSize.parse(text), BlockRequest.BLOCK_BYTES, MOST_SSD_BYTES))
                .toList();
    }

    private SarReport head(@Nullable TraceProfile profile, String hours) {
        String trace = profile != null
                ? "synthetic, like " + profile.name() + ", seed " + seed
                : String.join(" ", input.files.stream().map(SarCommand::nameOf).toList());
        return new SarReport(
                trace,
                profile != null,
                profile == null ? null : Calibration.of(profile, seed),
                null,
                machine,
                warmDays,
                hours,
                readsOnly,
                timeScale,
                threshold,
                references,
                List.of());
    }

    /** Returns the name without the folder, so that the output does not depend on the trace's location. */
    private static String nameOf(Path file) {
        return String.valueOf(file.getFileName());
    }

    private BlockTrace open(@Nullable TraceProfile profile) {
        if (profile != null) {
            return new SyntheticTrace(profile, warmDays + 1, seed);
        }
        FiuTrace trace = new FiuTrace(input.files, keepDuplicates);
        lastRead = trace;
        return trace;
    }

    private FiuTrace.@Nullable Counters counters() {
        return lastRead == null ? null : lastRead.counters();
    }
}
