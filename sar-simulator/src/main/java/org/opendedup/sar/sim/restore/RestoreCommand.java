package org.opendedup.sar.sim.restore;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.sim.data.DataTrace;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.trace.ChunkTraceReader;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code sar-sim restore}: counts container reads of restores, by policy and memory. */
@Command(
        name = "restore",
        sortOptions = false,
        description = {
            "Counts the container reads of restores, by cache policy and memory.",
            "",
            "New chunks of a chunk trace are packed into containers in its order, all versions first, a container sealed at the",
            "end of each; then each version is read back with an empty cache, a missing chunk's container whole.",
            ""
        },
        footer = {
            "",
            "Policies:",
            "  lru             gives up the container used longest ago",
            "  opt             Belady: the container whose next reference is farthest; knows the whole recipe",
            "  assembly        forward assembly (FAST '13): of what is read, keeps what the next bytes want, as many as the memory",
            "  lookahead-base  the lookahead paper's base rule: gives up the container with the fewest references in the window",
            "  lookahead-log   its extended rule: a cold victim's chunks that are still wanted go to a circular log buffer",
            "  default         keeps chunks that the window wants; gives up together those that one more read will bring back",
            "",
            "A chunk trace is text, plain or compressed with xz: '# version N', then a line for each chunk, with its fingerprint",
            "in hexadecimal and its length.",
            "",
            "Columns and JSON keys: cacheContainers (memory), version, containerReads, floor (containers that the version refers",
            "to: the fewest reads there can be), speedFactor (MiB restored for each container read), bytesRead,",
            "memoryHighWaterBytes (the most bytes of chunks in memory).",
            "",
            "Memory: about 60 bytes for each different chunk of the trace, 8 for each chunk of the versions restored, and the",
            "policy's window (opt: 30 bytes for each chunk of the version). SAR_SIM_MEMORY=4g gives it more than 1 GB.",
            "",
            "--data passes over links, further names of a file and devices, and leaves zero runs out; a file that can't be read is an error.",
            "",
            "Examples:",
            "  sar-sim restore --data /backup/monday /backup/tuesday --policy default --version 2",
            "  sar-sim restore --trace series.trace.xz --policy lru,default --cache-containers 8,30 --version 5"
        })
public final class RestoreCommand implements Callable<Integer> {
    private static final long MAX_CONTAINER_BYTES = 1 << 30;

    @Spec
    @Nullable
    CommandSpec spec;

    @ArgGroup(multiplicity = "1")
    Source source = new Source();

    @Option(
            names = {"--chunking", "--hash-type"},
            paramLabel = "TYPE",
            defaultValue = "VARIABLE_SHA256",
            description =
                    "With --data: VARIABLE_SHA256 cuts by content, 2 to 64 KiB; SHA256 into 4 KiB. Default: ${DEFAULT-VALUE}.")
    Chunking chunking = Chunking.VARIABLE_SHA256;

    @Option(
            names = "--policy",
            split = ",",
            paramLabel = "P",
            converter = PolicyConverter.class,
            description = "Policies, separated by commas. Default: all.")
    List<CachePolicy> policies = List.of(CachePolicy.values());

    @Option(
            names = "--cache-containers",
            split = ",",
            paramLabel = "N",
            defaultValue = "4,8,16,30",
            description = "Memory, in containers. Default: ${DEFAULT-VALUE}.")
    List<Integer> cacheContainers = List.of();

    @Option(
            names = "--container-size",
            paramLabel = "SIZE",
            defaultValue = "4MiB",
            converter = ContainerSizeConverter.class,
            description = "Bytes of chunks in a container; the lookahead paper uses 2MiB. Default: ${DEFAULT-VALUE}.")
    int containerBytes;

    @Option(
            names = "--window",
            paramLabel = "N",
            description = "Window of lookahead-base, lookahead-log and default, in containers' bytes. "
                    + "Default: half the memory for the first two, 16 times the memory for default.")
    int windowContainers;

    @Option(
            names = "--log-share",
            paramLabel = "S",
            defaultValue = "" + CacheParameters.DEFAULT_LOG_SHARE,
            description =
                    "Share of the memory that lookahead-log uses as log buffer, 0 to 0.9. Default: ${DEFAULT-VALUE}.")
    double logShare;

    @Option(
            names = "--hot-threshold",
            paramLabel = "T",
            defaultValue = "" + CacheParameters.DEFAULT_HOT_THRESHOLD,
            description =
                    "lookahead-log: a container is hot if the window refers to more than this share of its chunks. "
                            + "Default: ${DEFAULT-VALUE}, so none is; the lookahead paper has "
                            + CacheParameters.PAPER_HOT_THRESHOLD + ".")
    double hotThreshold;

    @Option(
            names = "--bloom",
            description = "lookahead-base and lookahead-log count references with the paper's counting Bloom filter; "
                    + "without, exactly.")
    boolean bloom;

    @Option(names = "--version", split = ",", paramLabel = "N", description = "Versions to restore. Default: all.")
    List<Integer> versions = List.of();

    @Option(names = "--json", description = "Print a JSON array, one object for each line of the table.")
    boolean json;

    @Option(
            names = "--report",
            paramLabel = "FOLDER",
            description =
                    "Write report.html there, with charts; the rows as JSON and CSV and the charts as SVG beside it.")
    @Nullable
    Path report;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    boolean help;

    @Override
    public Integer call() throws IOException {
        if (source.trace != null && isGiven("--hash-type")) {
            throw usage("--hash-type has no effect with --trace");
        }
        IntPredicate wanted = number -> versions.isEmpty() || versions.contains(number);
        List<CacheParameters> parameters = parameters();
        ReportFolder folder = report == null ? null : new ReportFolder(report);
        var packed = new PackedTrace(containerBytes, wanted);
        source.read(chunking, packed);
        if (packed.recipes().size() < versions.size()) {
            throw usage(source + " has no such version; it has 1 to " + packed.versions());
        }
        List<RestoreRow> rows = new ArrayList<>();
        for (Recipe recipe : packed.recipes()) {
            for (CachePolicy policy : policies) {
                for (CacheParameters each : parameters) {
                    rows.add(RestoreRow.of(packed, recipe, policy, each));
                }
            }
        }
        print(rows, Objects.requireNonNull(spec).commandLine().getOut());
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
        if (source.trace == null) {
            facts.add(1, new Report.Fact("hash type", chunking.name()));
        }
        return facts;
    }

    private boolean isGiven(String option) {
        return Objects.requireNonNull(spec).commandLine().getParseResult().hasMatchedOption(option);
    }

    /** The source of the chunks: exactly one of the two. */
    static final class Source {
        @Option(names = "--trace", paramLabel = "FILE", description = "The chunk trace.")
        @Nullable
        Path trace;

        @Option(
                names = "--data",
                arity = "1..*",
                paramLabel = "PATH",
                description =
                        "Instead: folders, files or images, read and cut into chunks here and now; each PATH is a version.")
        List<Path> data = List.of();

        void read(Chunking chunking, ChunkTraceVisitor visitor) throws IOException {
            if (trace != null) {
                ChunkTraceReader.read(trace, visitor);
            } else {
                DataTrace.read(data, chunking, visitor);
            }
        }

        /** Returns the name without the folder, so that a report does not depend on the location. */
        String name() {
            return trace != null ? String.valueOf(trace.getFileName()) : data.size() + " paths, cut here and now";
        }

        @Override
        public String toString() {
            return trace != null ? trace.toString() : "the data";
        }
    }

    private List<CacheParameters> parameters() {
        try {
            return cacheContainers.stream().map(this::parameters).toList();
        } catch (IllegalArgumentException e) {
            throw usage(Objects.requireNonNull(e.getMessage()));
        }
    }

    private CacheParameters parameters(int memoryContainers) {
        return CacheParameters.of((long) memoryContainers * containerBytes, containerBytes)
                .withLogShare(logShare)
                .withHotThreshold(hotThreshold)
                .withCounting(bloom ? CacheParameters.Counting.BLOOM : CacheParameters.Counting.EXACT)
                .withWindowContainers(windowContainers);
    }

    private void print(List<RestoreRow> rows, PrintWriter out) throws IOException {
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(rows));
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

    private ParameterException usage(String problem) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), problem);
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

    static final class ContainerSizeConverter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            try {
                long bytes = ByteSize.parse(text);
                if (bytes < 1 || bytes > MAX_CONTAINER_BYTES) {
                    throw new TypeConversionException(
                            text + " is out of range: 1B to " + ByteSize.exact(MAX_CONTAINER_BYTES));
                }
                return (int) bytes;
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
