package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.chunkstash.CuckooTable;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.index.silo.SiloSettings;
import org.opendedup.sar.sim.options.ChunkTraceSource;
import org.opendedup.sar.sim.options.PieceSizeConverter;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;
import org.opendedup.sar.sim.trace.BackupVersion;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code sar-sim index}: compares fingerprint indexes on a chunk trace. */
@Command(
        name = "index",
        sortOptions = false,
        description = {
            "Compares fingerprint indexes on a chunk trace: the duplicates they find, memory, reads.",
            "",
            "Stores the versions of the trace in order, in segments of about 2 MiB, with one index after another.",
            "chunkstash and silo are the volume's own classes, with their files in a temporary folder; the others",
            "are models.",
            ""
        },
        footer = {
            "",
            "Indexes:",
            "  exact       all fingerprints in memory, 40 bytes each: what the others are compared with",
            "  chunkstash  cuckoo table in memory, fingerprints in a log (USENIX ATC 2010); exact,",
            "              unless --table or --sampling leave only samples of them in memory",
            "  ddfs        Bloom filter, cache of containers' fingerprints (FAST 2008); exact",
            "  sparse      one fingerprint in 64 in memory, at most 10 champions a segment of 10 MiB (FAST 2009)",
            "  binning     Extreme Binning: a representative a file leads to a bin (MASCOTS 2009)",
            "  silo        a representative a segment leads to a block of segments (IEEE TC 2015)",
            "",
            "Columns and JSON keys: foundShare (bytes of duplicates found, of those that exact finds),",
            "lostChunksShare (chunks that are stored again, of all of the trace), sampling (chunkstash: the table has",
            "one of so many entries at the end), indexBytes (memory that grows with the data), indexBytesPerPb (for",
            "10^15 bytes of unique data), paperBytesPerPb (Table 2 of the SiLo paper), cacheBytes, readsPerSegment,",
            "diskLookupsPerSecond and flashLookupsPerSecond (1 us a chunk and the time of the reads: 13.29 ms and",
            "72 MB/s, 0.044 ms and 250 MB/s). Measured rates are only printed with --measure: they differ from",
            "run to run.",
            "",
            "A chunk trace has no files; binning takes 25 chunks for one on average, cut by content.",
            "",
            "Examples:",
            "  sar-sim index --trace series.trace.xz",
            "  sar-sim index --synthetic weak --run 250 --block 64MiB --cached-blocks 4",
            "  sar-sim index --synthetic strong --chunks 25000 --figures --report figures",
            "  sar-sim index --trace series.trace.xz --index exact,chunkstash --sampling 64 --cached-blocks 1"
        })
public final class IndexCommand extends SimCommand {
    @ArgGroup(multiplicity = "1")
    Source source = new Source();

    @Option(
            names = "--index",
            split = ",",
            paramLabel = "I",
            converter = KindConverter.class,
            description = "Indexes, separated by commas. Default: all.")
    List<IndexKind> kinds = List.of(IndexKind.values());

    @Option(
            names = "--segment",
            paramLabel = "SIZE",
            defaultValue = "2MiB",
            converter = PieceSizeConverter.class,
            description = "Data of a SiLo segment. Default: ${DEFAULT-VALUE}.")
    int segmentBytes;

    @Option(
            names = "--block",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = PieceSizeConverter.class,
            description = "Data of a SiLo block. Default: ${DEFAULT-VALUE}.")
    int blockBytes;

    @Option(
            names = "--cached-blocks",
            paramLabel = "N",
            defaultValue = "" + SiloSettings.CACHED_BLOCKS,
            description = "Blocks in SiLo's read cache. ddfs and chunkstash cache the fingerprints of as much data."
                    + " Default: ${DEFAULT-VALUE}.")
    int cachedBlocks;

    @Option(
            names = "--table",
            paramLabel = "SIZE",
            converter = PieceSizeConverter.class,
            description = "Memory of chunkstash's table, 12KiB or more. When it is full, the table drops every second"
                    + " entry, again and again. Default: enough for all chunks.")
    @Nullable
    Integer tableBytes;

    @Option(
            names = "--sampling",
            paramLabel = "N",
            defaultValue = "1",
            description = "chunkstash's table has one of N entries from the beginning; 1, 2, 4, ... 1024. Default:"
                    + " ${DEFAULT-VALUE}.")
    int sampling;

    @Option(
            names = "--width",
            paramLabel = "N",
            defaultValue = "" + CuckooTable.CANDIDATES,
            description = "Positions of chunkstash's table in which a fingerprint can be: 8, 16, 24 or 32. Default:"
                    + " ${DEFAULT-VALUE}.")
    int width;

    @Option(
            names = "--random-samples",
            description = "Draw the samples of chunkstash's table at random. Without it, they are every Nth entry of a"
                    + " page of the log, as in volumes.")
    boolean randomSamples;

    @Mixin
    SyntheticSize size = new SyntheticSize();

    @Option(
            names = "--figures",
            description = "With --report: draw figures 2, 10, 11, 13, 14 and 18 of the SiLo paper, and 4 of the"
                    + " ChunkStash paper; with --synthetic, of all three traces. Some 30 runs a trace.")
    boolean figures;

    @Option(names = "--measure", description = "Print the rates of this run, too. Not in JSON and reports.")
    boolean measure;

    @Option(names = "--json", description = "Print a JSON array, one object for each line of the table.")
    boolean json;

    @Mixin
    ReportOption report = new ReportOption();

    /** The trace: exactly one of the two. */
    static final class Source extends ChunkTraceSource {
        @Option(
                names = "--synthetic",
                paramLabel = "NAME",
                converter = SyntheticConverter.class,
                description = "Make a trace: strong (full backups, each like the one before), incremental (after the"
                        + " first only files that changed), weak (one backup whose runs repeat, 1.7 : 1).")
        @Nullable
        SyntheticTrace synthetic;

        @Override
        protected String nameOfOther() {
            return String.valueOf(synthetic);
        }
    }

    @Override
    public Integer call() throws IOException {
        require(
                cachedBlocks >= 1 && size.chunks >= 1 && size.run >= 1,
                "--cached-blocks, --chunks and --run are 1 or more");
        require(
                tableBytes == null || tableBytes >= StashSettings.LEAST_TABLE_BYTES,
                "--table is " + ByteSize.exact(StashSettings.LEAST_TABLE_BYTES) + " or more");
        require(
                Integer.bitCount(sampling) == 1 && sampling >= 1 && sampling <= StashSettings.MOST_INTERVAL,
                "--sampling is a power of two, 1 to " + StashSettings.MOST_INTERVAL);
        require(width % 8 == 0 && width >= 8 && width <= CuckooTable.MOST_CANDIDATES, "--width is 8, 16, 24 or 32");
        ReportFolder folder = report.folder();
        require(!figures || folder != null, "--figures needs --report");
        IndexRun index = run(versions());
        List<IndexRun.Measured> measured = new ArrayList<>();
        for (IndexKind kind : kinds) {
            measured.add(index.run(kind));
        }
        List<IndexRow> rows = measured.stream().map(IndexRun.Measured::row).toList();
        if (json) {
            printJson(rows);
        } else {
            print(index, measured, out());
        }
        out().flush();
        if (folder != null) {
            folder.write(report(index, rows));
        }
        return 0;
    }

    private List<Section> figures(IndexRun index) throws IOException {
        if (!figures) {
            return List.of();
        }
        Map<String, IndexRun> runs = new LinkedHashMap<>();
        if (source.synthetic == null) {
            runs.put(source.name(), index);
        } else {
            for (SyntheticTrace trace : SyntheticTrace.values()) {
                runs.put(
                        trace.toString(),
                        trace == source.synthetic ? index : run(trace.versions(size.chunks, size.run, size.seed)));
            }
        }
        return new IndexFigures(runs, sizes()).sections();
    }

    private IndexRun run(List<BackupVersion> versions) throws IOException {
        return new IndexRun(versions, sizes(), Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
    }

    private IndexSizes sizes() {
        return new IndexSizes(
                segmentBytes,
                blockBytes,
                cachedBlocks,
                tableBytes == null ? 0 : tableBytes,
                sampling,
                randomSamples ? StashSettings.Samples.RANDOM : StashSettings.Samples.UNIFORM,
                width);
    }

    private List<BackupVersion> versions() throws IOException {
        if (source.synthetic != null) {
            return source.synthetic.versions(size.chunks, size.run, size.seed);
        }
        return BackupVersion.read(Objects.requireNonNull(source.trace()));
    }

    private void print(IndexRun index, List<IndexRun.Measured> measured, PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "%s of data, %s unique, %d segments%n",
                ByteSize.rounded(index.bytes()),
                ByteSize.rounded(index.uniqueBytes()),
                index.segments());
        out.println("index        found      lost    table   memory   per PB   paper     cache   reads  per segment"
                + "  chunks/s: disk"
                + "       SSD" + (measure ? "   measured" : ""));
        for (IndexRun.Measured each : measured) {
            IndexRow row = each.row();
            out.printf(
                    Locale.ROOT,
                    "%-10s %7.3f %% %7.3f %% %6s %8s %8s %7s %9s %7d %12.3f %15.0f %9.0f%s%n",
                    row.index(),
                    100 * row.foundShare(),
                    100 * row.lostChunksShare(),
                    row.sampling() == 1 ? "" : "1/" + row.sampling(),
                    ByteSize.rounded(row.indexBytes()),
                    ByteSize.rounded(Math.round(row.indexBytesPerPb())),
                    row.paperBytesPerPb() == 0 ? "–" : ByteSize.rounded(Math.round(row.paperBytesPerPb())),
                    ByteSize.rounded(row.cacheBytes()),
                    row.reads(),
                    row.readsPerSegment(),
                    row.diskLookupsPerSecond(),
                    row.flashLookupsPerSecond(),
                    measure ? String.format(Locale.ROOT, " %10.0f", each.measuredLookupsPerSecond()) : "");
        }
    }

    private Report report(IndexRun index, List<IndexRow> rows) throws IOException {
        Line.Builder found = Line.named("found");
        Line.Builder memory = Line.named("measured");
        Line.Builder paper = Line.named("SiLo paper");
        for (IndexRow row : rows) {
            found.add(row.index(), 100 * row.foundShare());
            memory.add(row.index(), Math.max(1, row.indexBytesPerPb()) / 1e9);
            paper.add(row.index(), Math.max(1, row.paperBytesPerPb()) / 1e9);
        }
        Chart duplicates = new Chart(
                "index-duplicates",
                "Duplicates found, of those that exist",
                Axis.names("index"),
                Axis.linear("%"),
                Chart.Mark.BARS,
                List.of(found.build()));
        Chart bytes = new Chart(
                "index-memory",
                "Memory for a petabyte of unique data",
                Axis.names("index"),
                Axis.linear("GB"),
                Chart.Mark.BARS,
                List.of(memory.build(), paper.build()));
        return new Report(
                "Fingerprint indexes",
                source.synthetic != null,
                List.of(
                        new Report.Fact("input", input()),
                        new Report.Fact("data", ByteSize.exact(index.bytes())),
                        new Report.Fact("unique", ByteSize.exact(index.uniqueBytes())),
                        new Report.Fact("segments", String.valueOf(index.segments())),
                        new Report.Fact("SiLo segment", ByteSize.exact(segmentBytes)),
                        new Report.Fact("SiLo block", ByteSize.exact(blockBytes)),
                        new Report.Fact("cached blocks", String.valueOf(cachedBlocks)),
                        new Report.Fact("samples of ChunkStash", samples())),
                Stream.concat(
                                Stream.of(
                                        Section.of("Duplicates", "", duplicates),
                                        Section.of(
                                                "Memory",
                                                "Of an index without a value in the paper the bar is empty.",
                                                bytes),
                                        Section.of("Reads and rates", "", Table.of("index", rows))),
                                figures(index).stream())
                        .toList(),
                List.of(Table.of("index", rows)));
    }

    private String input() {
        return source.synthetic == null
                ? source.name()
                : source.name() + ", " + size.chunks + " chunks, runs of " + size.run + ", seed " + size.seed;
    }

    private String samples() {
        return "one of " + sampling + " from the beginning, " + (randomSamples ? "at random" : "uniform")
                + ", table of " + (tableBytes == null ? "any size" : ByteSize.exact(tableBytes));
    }

    static final class KindConverter implements ITypeConverter<IndexKind> {
        @Override
        public IndexKind convert(String text) {
            return named(IndexKind.values(), text);
        }
    }

    static final class SyntheticConverter implements ITypeConverter<SyntheticTrace> {
        @Override
        public SyntheticTrace convert(String text) {
            return named(SyntheticTrace.values(), text);
        }
    }

    private static <T> T named(T[] values, String text) {
        for (T value : values) {
            if (value.toString().equals(text)) {
                return value;
            }
        }
        throw new TypeConversionException(text + " is none of " + Arrays.toString(values));
    }
}
