package org.opendedup.sar.sim.restore;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.sim.data.DataTrace;
import org.opendedup.sar.sim.options.ChunkTraceSource;
import org.opendedup.sar.sim.options.ChunkingOption;
import org.opendedup.sar.sim.options.PieceSizeConverter;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.trace.ChunkTraceReader;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code sar-sim restore}: counts container reads of restores, by policy and memory. */
@Command(
        name = "restore",
        sortOptions = false,
        description = {
            "Counts the container reads of restores, by cache policy and memory.",
            "",
            "Packs the new chunks of a chunk trace into containers in the order of the trace, for all versions; the",
            "last container of each version is sealed at the version's end. Then restores each version, beginning",
            "with an empty cache. A missing chunk's container is read whole.",
            ""
        },
        footer = {
            "",
            "Policies:",
            "  lru             evicts the container that was used the longest time ago",
            "  opt             Belady: evicts the container whose next reference is farthest; knows the whole recipe",
            "  assembly        forward assembly (FAST '13): keeps chunks of read "
                    + "containers that the next bytes refer to",
            "  lookahead-base  base rule of the lookahead paper: evicts the "
                    + "container with the fewest references in the",
            "                  window",
            "  lookahead-log   its extended rule: moves referenced chunks of a cold victim to a circular log buffer",
            "  default         keeps chunks that the window refers to; evicts together those that one read brings back",
            "",
            "A chunk trace is text, plain or compressed with xz: '# version N', then a line for each chunk with its",
            "fingerprint in hexadecimal and its length in bytes.",
            "",
            "Columns and JSON keys: cacheContainers (memory), version, containerReads, floor (number of containers",
            "that the version refers to, and so the fewest possible reads), speedFactor (MiB restored for each",
            "container read), bytesRead, memoryHighWaterBytes (largest number of bytes of chunks in memory).",
            "",
            "Memory: about 60 bytes for each different chunk of the trace, 8 bytes for each chunk of the restored",
            "versions, and the policy's window (opt: 30 bytes for each chunk of the version). The limit is 1 GB;",
            "SAR_SIM_MEMORY=4g sets another one.",
            "",
            "--data skips symbolic links, further names of a file, and devices, and omits runs of zeros. A file",
            "that cannot be read is an error.",
            "",
            "Examples:",
            "  sar-sim restore --data /backup/monday /backup/tuesday --policy default --version 2",
            "  sar-sim restore --trace series.trace.xz --policy lru,default --cache-containers 8,30 --version 5"
        })
public final class RestoreCommand extends SimCommand {
    @ArgGroup(multiplicity = "1")
    Source source = new Source();

    @Mixin
    ChunkingOption chunking = new ChunkingOption();

    @Option(
            names = "--policy",
            split = ",",
            paramLabel = "P",
            converter = PolicyConverter.class,
            description = "Cache policies, separated by commas. Default: all.")
    List<CachePolicy> policies = List.of(CachePolicy.values());

    @Option(
            names = "--cache-containers",
            split = ",",
            paramLabel = "N",
            defaultValue = "4,8,16,30",
            description = "Cache sizes, in containers. Default: ${DEFAULT-VALUE}.")
    List<Integer> cacheContainers = List.of();

    @Option(
            names = "--container-size",
            paramLabel = "SIZE",
            defaultValue = "4MiB",
            converter = PieceSizeConverter.class,
            description = "Bytes of chunks in a container. The lookahead paper uses 2MiB. Default: ${DEFAULT-VALUE}.")
    int containerBytes;

    @Option(
            names = "--window",
            paramLabel = "N",
            description =
                    "Lookahead window of lookahead-base, lookahead-log and default, in containers. Default: half the "
                            + "cache for the first two, 16 times the cache for default.")
    int windowContainers;

    @Option(
            names = "--log-share",
            paramLabel = "S",
            defaultValue = "" + CacheParameters.DEFAULT_LOG_SHARE,
            description = "Share of the cache, 0 to 0.9, that lookahead-log uses as its log buffer. Default: "
                    + "${DEFAULT-VALUE}.")
    double logShare;

    @Option(
            names = "--hot-threshold",
            paramLabel = "T",
            defaultValue = "" + CacheParameters.DEFAULT_HOT_THRESHOLD,
            description =
                    "lookahead-log: a container is hot if the window refers to more than this share of its chunks. "
                            + "Default: ${DEFAULT-VALUE}, so that none is hot; the lookahead paper uses "
                            + CacheParameters.PAPER_HOT_THRESHOLD + ".")
    double hotThreshold;

    @Option(
            names = "--bloom",
            description =
                    "Count references of lookahead-base and lookahead-log with the paper's counting Bloom filter. "
                            + "Without it, they are counted exactly.")
    boolean bloom;

    @Option(names = "--version", split = ",", paramLabel = "N", description = "Versions to restore. Default: all.")
    List<Integer> versions = List.of();

    @Option(names = "--json", description = "Print a JSON array, one object for each line of the table.")
    boolean json;

    @Mixin
    ReportOption report = new ReportOption();

    @Override
    public Integer call() throws IOException {
        if (source.trace() != null) {
            refuse(List.of("--hash-type"), "--trace");
        }
        IntPredicate wanted = number -> versions.isEmpty() || versions.contains(number);
        List<CacheParameters> parameters =
                checked(() -> cacheContainers.stream().map(this::parameters).toList());
        ReportFolder folder = report.folder();
        var packed = new PackedTrace(containerBytes, wanted);
        source.read(chunking.chunking(), packed);
        require(
                packed.recipes().size() >= versions.size(),
                source + " has no such version; it has 1 to " + packed.versions());
        List<RestoreRow> rows = new ArrayList<>();
        for (Recipe recipe : packed.recipes()) {
            for (CachePolicy policy : policies) {
                for (CacheParameters each : parameters) {
                    rows.add(RestoreRow.of(packed, recipe, policy, each));
                }
            }
        }
        print(rows);
        if (folder != null) {
            folder.write(RestoreReport.of(facts(), rows));
        }
        return 0;
    }

    private List<Report.Fact> facts() {
        List<Report.Fact> facts = new ArrayList<>(List.of(
                new Report.Fact("input", source.name()),
                new Report.Fact("containers", ByteSize.exact(containerBytes) + ", before compression"),
                new Report.Fact(
                        "window of lookahead-base, lookahead-log, default",
                        windowContainers == 0 ? "½, ½, 16 × memory" : windowContainers + " containers"),
                new Report.Fact("log share of lookahead-log", String.valueOf(logShare)),
                new Report.Fact("hot threshold of lookahead-log", String.valueOf(hotThreshold)),
                new Report.Fact("references counted", bloom ? "with a Bloom filter" : "exactly")));
        if (source.trace() == null) {
            facts.add(1, new Report.Fact("hash type", chunking.chunking().name()));
        }
        return facts;
    }

    /** The source of the chunks: exactly one of the two. */
    static final class Source extends ChunkTraceSource {
        @Option(
                names = "--data",
                arity = "1..*",
                paramLabel = "PATH",
                description =
                        "Read folders, files or images in place of a trace and cut them into chunks. Each PATH is a "
                                + "version.")
        List<Path> data = List.of();

        void read(Chunking chunking, ChunkTraceVisitor visitor) throws IOException {
            Path trace = trace();
            if (trace != null) {
                ChunkTraceReader.read(trace, visitor);
            } else {
                DataTrace.read(data, chunking, visitor);
            }
        }

        @Override
        protected String nameOfOther() {
            return data.size() + " paths, cut here and now";
        }

        @Override
        public String toString() {
            Path trace = trace();
            return trace != null ? trace.toString() : "the data";
        }
    }

    private CacheParameters parameters(int memoryContainers) {
        return CacheParameters.of((long) memoryContainers * containerBytes, containerBytes)
                .withLogShare(logShare)
                .withHotThreshold(hotThreshold)
                .withCounting(bloom ? CacheParameters.Counting.BLOOM : CacheParameters.Counting.EXACT)
                .withWindowContainers(windowContainers);
    }

    private void print(List<RestoreRow> rows) {
        PrintWriter out = out();
        if (json) {
            printJson(rows);
        } else {
            out.println("version  policy          memory   reads   floor  MiB/read      read  high water");
            for (RestoreRow row : rows) {
                out.printf(
                        Locale.ROOT,
                        "%7d  %-14s %7d %7d %7d  %8.3f %9s %11s%n",
                        row.version(),
                        row.policy(),
                        row.cacheContainers(),
                        row.containerReads(),
                        row.floor(),
                        row.speedFactor(),
                        ByteSize.rounded(row.bytesRead()),
                        ByteSize.rounded(row.memoryHighWaterBytes()));
            }
        }
        out.flush();
    }

    static final class PolicyConverter implements ITypeConverter<CachePolicy> {
        @Override
        public CachePolicy convert(String label) {
            try {
                return CachePolicy.of(label);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
