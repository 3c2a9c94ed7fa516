package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.cluster.BlockShape;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sim.options.PieceSizeConverter;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.trace.BackupVersion;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sar-sim cluster}: what a trace needs in clusters of 1 to 256 volumes. */
@Command(
        name = "cluster",
        sortOptions = false,
        description = {
            "Stores a chunk trace in clusters of 1 to 256 volumes.",
            "",
            "Shows what deduplication loses, how even the load is, and what moves when a volume is added.",
            "",
            "Blocks end and are placed by the rules of 'sdfscli cluster'. Each volume finds all duplicates of what it",
            "has, and none of what others have.",
            ""
        },
        footer = {
            "",
            "Columns and JSON keys: volumes, storedBytes, dedupRatio, foundShare (bytes of duplicates found, of those",
            "that one volume finds), fullest (what the fullest volume stores, times the mean), shardsOfFullest",
            "(likewise of shards), movedShare (bytes of blocks that move when a volume is added), fairShare (one part",
            "in volumes + 1), movedElsewhere (bytes that move to another volume than the new one).",
            "",
            "Examples:",
            "  sar-sim cluster --trace series.trace.xz",
            "  sar-sim cluster --synthetic strong --chunks 100000",
            "  sar-sim cluster --trace series.trace.xz --fixed 2MiB     # blocks as in the SiLo paper"
        })
public final class ClusterCommand extends SimCommand {
    private static final int[] VOLUMES = {1, 2, 3, 4, 8, 16, 32, 64, 128, 256};

    @ArgGroup(multiplicity = "1")
    IndexCommand.Source source = new IndexCommand.Source();

    @Option(
            names = "--block",
            paramLabel = "SIZE",
            converter = PieceSizeConverter.class,
            description =
                    "Least data of a block: a power of two, 64 KiB or more; a block has about three times as much,"
                            + " and eight times at most. Default: 512KiB, that of the cluster.")
    @Nullable
    Integer block;

    @Option(
            names = "--fixed",
            paramLabel = "SIZE",
            converter = PieceSizeConverter.class,
            description = "Blocks of this size, wherever they end.")
    @Nullable
    Integer fixed;

    @Mixin
    SyntheticSize size = new SyntheticSize();

    @Option(names = "--json", description = "Print a JSON array, one object for each line of the table.")
    boolean json;

    @Override
    public Integer call() throws IOException {
        require(size.chunks >= 1 && size.run >= 1, "--chunks and --run are 1 or more");
        require(block == null || fixed == null, "--block and --fixed exclude each other");
        ClusterRun cluster = new ClusterRun(versions(), division());
        List<ClusterRow> rows = new ArrayList<>();
        for (int volumes : VOLUMES) {
            rows.add(cluster.row(volumes));
        }
        if (json) {
            printJson(rows);
        } else {
            print(cluster, rows, out());
        }
        out().flush();
        return 0;
    }

    private ClusterRun.Division division() {
        if (fixed != null) {
            return ClusterRun.Division.fixed(fixed);
        }
        if (block == null) {
            return ClusterRun.Division.of(BlockShape.USUAL);
        }
        require(Integer.bitCount(block) == 1 && block >= 64 << 10, "--block is a power of two, 64KiB or more");
        return ClusterRun.Division.of(new BlockShape(block, block / (4 << 10), 8 * block));
    }

    private List<BackupVersion> versions() throws IOException {
        return source.synthetic != null
                ? source.synthetic.versions(size.chunks, size.run, size.seed)
                : BackupVersion.read(Objects.requireNonNull(source.trace()));
    }

    private static void print(ClusterRun cluster, List<ClusterRow> rows, PrintWriter out) {
        long[] blocks = cluster.blockFigures();
        out.printf(
                Locale.ROOT,
                "%s of data, %s unique, %d different blocks of %s%n",
                ByteSize.rounded(cluster.bytes()),
                ByteSize.rounded(cluster.uniqueBytes()),
                blocks[0],
                ByteSize.rounded(blocks[1]));
        out.println("volumes    stored   ratio     found  fullest  shards  moved by one more: share  least  elsewhere");
        for (ClusterRow row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%7d %9s %7.3f %7.2f %% %8.3f %7.3f %22.2f %% %5.2f %% %10s%n",
                    row.volumes(),
                    ByteSize.rounded(row.storedBytes()),
                    row.dedupRatio(),
                    100 * row.foundShare(),
                    row.fullest(),
                    row.shardsOfFullest(),
                    100 * row.movedShare(),
                    100 * row.fairShare(),
                    ByteSize.rounded(row.movedElsewhere()));
        }
    }
}
