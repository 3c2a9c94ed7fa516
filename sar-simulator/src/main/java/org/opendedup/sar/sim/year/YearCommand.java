package org.opendedup.sar.sim.year;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.sim.options.ChunkingOption;
import org.opendedup.sar.sim.options.HelpOption;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.trace.BackupVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sar-sim year}: plays a year of daily backups on a real volume, with garbage collections. */
@Command(
        name = "year",
        sortOptions = false,
        description = {
            "Plays a year of daily backups on a real volume, and shows how its size and its restores develop.",
            "",
            "Each day stores a full backup as a file, removes the oldest file if more than --keep are there, reads the",
            "newest backup and a random older one and compares each byte, and on some days collects garbage. At the",
            "end, all kept backups are read and compared, the volume is checked, and a fresh volume stores the same",
            "backups for comparison. A wrong byte ends the command with an error, and its volume stays in --work.",
            ""
        },
        footer = {
            "",
            "Backups: the first ones are the versions of the trace. The others are synthetic: their changes are drawn",
            "from the changes between the trace's versions, in stretches of 256 chunks, with the lengths and distances",
            "of the trace's runs of new, dropped and repeated chunks; see docs/SIMULATOR.md. The size stays about that",
            "of the trace's last version. Chunks have bytes made from their fingerprints: a quarter is random, the",
            "others are words of a fixed list, so that zstd makes about half of all.",
            "",
            "A chunk trace is text, plain or compressed with xz: '# version N', then a line for each chunk with its",
            "fingerprint in hexadecimal and its length in bytes.",
            "",
            "Columns, in MB: logical (all kept backups), unique (their different chunks, before compression), stored",
            "(containers, garbage included), on disk (allocated to the packs), returned and copied (by the day's",
            "collection), seconds, MB/s (containers that it handled), restore (predicted MB/s of the newest",
            "backup, read cold from a hard disk of 13.1 ms and 150 MB/s), its requests, and the MB that it reads.",
            "A day's figures are those after its collection.",
            "",
            "JSON keys: days (a row for each run and day) and ends (a row for each run); sizes in bytes. The report's",
            "files have the same rows. Sizes and speeds of restores vary by some percent from run to run, because",
            "containers are written by several threads; the backups do not. Seconds depend on the machine.",
            "",
            "Disk: the stored size of the largest run, about 2 GB for a year without collections at --scale 0.05.",
            "Memory: 500 MB, and 12 bytes for each chunk of the trace and of the kept backups. SAR_SIM_MEMORY=2g sets",
            "the heap.",
            "",
            "Examples:",
            "  sar-sim year --trace series.trace.xz --work /var/tmp/year --collect-every 7,0 --report year",
            "  sar-sim year --trace series.trace.xz --work /var/tmp/year --scale 1 --days 5 --keep 2 \\",
            "          --collect-every 5 --garbage-share 0,0.01,0.03,0.1"
        })
public final class YearCommand implements Callable<Integer> {
    private static final int FRAME_BYTES = 64 << 10;
    private static final int BACKUP_FRAME_BYTES = 256 << 10;
    private static final int ZSTD_LEVEL = 1;
    private static final int BACKUP_ZSTD_LEVEL = 3;

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(names = "--trace", required = true, paramLabel = "FILE", description = "Chunk trace to carry on.")
    Path trace = Path.of("");

    @Option(
            names = "--work",
            required = true,
            paramLabel = "FOLDER",
            description = "Folder for the volumes. They are made in it one at a time, and removed.")
    Path work = Path.of("");

    @Option(
            names = "--days",
            paramLabel = "N",
            defaultValue = "365",
            description = "Number of days, with a backup each. Default: ${DEFAULT-VALUE}.")
    int days;

    @Option(
            names = "--keep",
            paramLabel = "N",
            defaultValue = "30",
            description = "Number of newest backups that are kept. Default: ${DEFAULT-VALUE}.")
    int keep;

    @Option(
            names = "--collect-every",
            split = ",",
            paramLabel = "N",
            defaultValue = "7",
            description =
                    "Collect garbage at the end of each N days, and of the last day; 0: never. Each of several values "
                            + "is a run of its own. Default: ${DEFAULT-VALUE}.")
    List<Integer> collectEvery = List.of();

    @Option(
            names = "--garbage-share",
            split = ",",
            paramLabel = "S",
            defaultValue = "0.03",
            description = "Share of the stored bytes that a collection may leave as garbage, 0 to 1. Each of several "
                    + "values is a run of its own. Default: ${DEFAULT-VALUE}.")
    List<Double> garbageShares = List.of();

    @Option(
            names = "--arrange",
            split = ",",
            paramLabel = "GAIN",
            defaultValue = "0",
            description =
                    "Before each collection, move chunks as the newest backups want them, where the predicted time "
                            + "of reading becomes GAIN times shorter; 1 or more, 0: never. Each of several "
                            + "values is a run of "
                            + "its own. Default: ${DEFAULT-VALUE}.")
    List<Double> arrangeGains = List.of();

    @Option(
            names = "--scale",
            paramLabel = "S",
            defaultValue = "0.05",
            description = "Share of the trace's data, above 0 to 1, in contiguous runs of about 256 chunks. Default: "
                    + "${DEFAULT-VALUE}.")
    double scale;

    @Option(
            names = "--drift",
            paramLabel = "S",
            defaultValue = "1",
            description = "Share of the changes between two versions of the trace that a day has, 0 to 1. Default: "
                    + "${DEFAULT-VALUE}.")
    double drift;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the series. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Mixin
    ChunkingOption chunking = new ChunkingOption();

    @Option(
            names = "--backup-volume",
            description = "As in mkfs.sdfs: compress harder, in frames of 256KB instead of 64KB.")
    boolean backupVolume;

    @Option(names = "--json", description = "Print the result as JSON; sizes in bytes, shares 0 to 1.")
    boolean json;

    @Mixin
    ReportOption report = new ReportOption();

    @Mixin
    HelpOption help = new HelpOption();

    /** What {@code --json} prints. */
    record Result(List<DayRow> days, List<RunSummary> ends) {}

    @Override
    public Integer call() throws IOException {
        check();
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        ReportFolder folder = report.folder();
        List<BackupVersion> versions = BackupVersion.read(trace);
        require(versions.size() > 1, trace + " has one version, and so no changes that could be carried on");
        List<BackupVersion> sample = TraceSample.of(versions, scale);
        require(
                sample.stream().allMatch(version -> version.chunks() > 0),
                "--scale " + scale + " leaves nothing of a version of " + trace);
        String facts = facts(sample);
        if (!json) {
            out.println("Synthetic from day " + (sample.size() + 1) + " on: " + facts);
        }
        List<DayRow> rows = new ArrayList<>();
        List<RunSummary> ends = new ArrayList<>();
        YearRun run = new YearRun(settings(), versions, sample);
        for (int every : collectEvery) {
            for (double share : every == 0 ? garbageShares.subList(0, 1) : garbageShares) {
                for (double gain : every == 0 ? List.of(0.0) : arrangeGains) {
                    print(out, YearReport.heading(every, share, gain));
                    ends.add(run.play(every, share, gain, row -> {
                        rows.add(row);
                        print(out, List.of(YearReport.line(row)));
                    }));
                    print(out, YearReport.lines(ends.get(ends.size() - 1)));
                }
            }
        }
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(new Result(rows, ends)));
            out.flush();
        }
        if (folder != null) {
            folder.write(YearReport.of(List.of(new Report.Fact("series", facts)), rows, ends));
        }
        return 0;
    }

    private void print(PrintWriter out, List<String> lines) {
        if (!json) {
            lines.forEach(out::println);
            out.flush();
        }
    }

    private void check() {
        require(days >= 1 && keep >= 1, "--days and --keep must be 1 or more");
        require(collectEvery.stream().allMatch(every -> every >= 0), "--collect-every must be 0 or more");
        require(garbageShares.stream().allMatch(share -> share >= 0 && share <= 1), "--garbage-share must be 0 to 1");
        require(arrangeGains.stream().allMatch(gain -> gain == 0 || gain >= 1), "--arrange must be 0, or 1 or more");
        require(scale > 0 && scale <= 1, "--scale must be above 0 and at most 1");
        require(drift >= 0 && drift <= 1, "--drift must be 0 to 1");
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(Objects.requireNonNull(spec).commandLine(), otherwise);
        }
    }

    private String facts(List<BackupVersion> sample) {
        return String.format(
                Locale.ROOT,
                "%s, scale %s, %s a backup, drift %s, seed %d; keeps %d backups",
                trace.getFileName(),
                scale,
                ByteSize.rounded(sample.get(sample.size() - 1).bytes()),
                drift,
                seed,
                keep);
    }

    private YearSettings settings() throws IOException {
        return new YearSettings(
                Files.createDirectories(work),
                days,
                keep,
                drift,
                seed,
                chunking.chunking(),
                new Compression(
                        Compression.Codec.ZSTD,
                        backupVolume ? BACKUP_ZSTD_LEVEL : ZSTD_LEVEL,
                        backupVolume ? BACKUP_FRAME_BYTES : FRAME_BYTES));
    }
}
