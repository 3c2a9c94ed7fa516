package org.opendedup.sar.sim.restore;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sar-sim paper lookahead}: Table 1 and Figures 3, 4 and 8 to 12 of the lookahead paper. */
@Command(
        name = "lookahead",
        sortOptions = false,
        description = {
            "Computes Table 1 and Figures 3, 4 and 8 to 12 of the lookahead paper, also with our policies.",
            "",
            "The paper is Park, Fan, Nam and Du, A Lookahead Read Cache (JCST 2017). Its six data sets are not",
            "public. Synthetic series replace them, with the amounts of data, new data and duplicates that the",
            "paper states. With --trace, a chunk trace replaces them.",
            ""
        },
        footer = {
            "",
            "Memory: 400 MB for series of the paper's size. Runs for some minutes and prints its progress to "
                    + "the standard error."
        })
public final class LookaheadPaperCommand extends SimCommand {
    private static final String MACHINE = "lookahead";
    private static final int MOST_CHUNKS = 10_000_000;

    @Option(
            names = "--report",
            required = true,
            paramLabel = "FOLDER",
            description = "Folder for report.html, the rows and the charts.")
    Path report = Path.of("");

    @Option(names = "--trace", paramLabel = "FILE", description = "Chunk trace to use in place of the series.")
    @Nullable
    Path trace;

    @Option(
            names = "--chunks",
            paramLabel = "N",
            defaultValue = "390000",
            description = "Chunks in the first version of a series. Default: ${DEFAULT-VALUE}, as in the paper.")
    int chunks;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the series. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Override
    public Integer call() throws IOException {
        if (trace != null) {
            refuse(List.of("--chunks", "--seed"), "--trace");
        }
        require(chunks >= 1 && chunks <= MOST_CHUNKS, "--chunks is 1 to " + MOST_CHUNKS + ", not " + chunks);
        ReportFolder folder = new ReportFolder(report);
        List<BackupSet> sets = trace == null ? BackupSet.likeThePapers(chunks, seed) : List.of(BackupSet.of(trace));
        LookaheadPaper paper = new LookaheadPaper(Machine.load(MACHINE), err()::println);
        for (BackupSet set : sets) {
            paper.run(set);
        }
        folder.write(LookaheadPaperReport.of(paper, trace == null, facts(paper)));
        return 0;
    }

    private List<Report.Fact> facts(LookaheadPaper paper) {
        return List.of(
                new Report.Fact(
                        "backups",
                        trace == null
                                ? "series of " + chunks + " chunks in the first version, seed " + seed
                                : String.valueOf(trace.getFileName())),
                new Report.Fact("containers", ByteSize.exact(LookaheadPaper.CONTAINER_BYTES)),
                new Report.Fact(
                        "MB/s",
                        String.format(
                                Locale.ROOT,
                                "reading a container takes %.1f ms, as a random read on the machine %s",
                                paper.containerMillis(),
                                MACHINE)),
                new Report.Fact("window", "half the memory unless stated otherwise; the paper does not state it"),
                new Report.Fact("hot threshold", "5 %, unless stated otherwise"));
    }
}
