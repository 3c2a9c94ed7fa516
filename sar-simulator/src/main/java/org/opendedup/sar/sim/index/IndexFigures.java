package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.chunkstash.CuckooTable;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Section;

/**
 * The figures of the papers: of SiLo 2, 10, 11, 13, 14 and 18, and of ChunkStash 4. Whatever they show of an index
 * comes from the volume's own classes.
 */
final class IndexFigures {
    private static final long MIB = 1 << 20;
    private static final long[] SEGMENTS = {MIB / 2, MIB, 2 * MIB, 4 * MIB};
    private static final long[] BLOCKS = {8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB};
    private static final int[] NODES = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    private static final int NODES_OF_PAPER = 4;
    private static final int[] CANDIDATES = {8, 16, 24, 32};
    /** Loads of the table: between the last two, the paper takes its averages. */
    private static final double[] LOADS = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75};

    private final Map<String, IndexRun> runs;
    private final IndexSizes sizes;

    /** @param runs the traces by the names of their panels */
    IndexFigures(Map<String, IndexRun> runs, IndexSizes sizes) {
        this.runs = runs;
        this.sizes = sizes;
    }

    List<Section> sections() throws IOException {
        List<Section> sections = new ArrayList<>(similarity());
        sections.add(sweep());
        sections.add(routing());
        sections.add(table());
        return sections;
    }

    private List<Section> similarity() throws IOException {
        Charts degrees = new Charts();
        Charts found = new Charts();
        Line.Builder similar = Line.named("similarity");
        Line.Builder local = Line.named("locality");
        Line.Builder missed = Line.named("missed");
        for (Map.Entry<String, IndexRun> run : runs.entrySet()) {
            String panel = run.getKey();
            SimilarityStudy study = run.getValue().similarity(sizes);
            Line.Builder share = Line.named(panel, "segments");
            Line.Builder bySimilarity = Line.named(panel, "similarity");
            Line.Builder byLocality = Line.named(panel, "locality");
            Line.Builder byNeither = Line.named(panel, "missed");
            double[] sums = new double[3];
            for (int group = 0; group < SimilarityStudy.GROUPS; group++) {
                String name = SimilarityStudy.name(group);
                share.add(name, 100 * study.segmentShare(group));
                bySimilarity.add(name, 100 * study.similarityShare(group));
                byLocality.add(name, 100 * study.localityShare(group));
                byNeither.add(name, 100 * study.missedShare(group));
                sums[0] += study.similarityShare(group);
                sums[1] += study.localityShare(group);
                sums[2] += study.missedShare(group);
            }
            degrees.add(share);
            found.add(bySimilarity, byLocality, byNeither);
            similar.add(panel, 100 * sums[0]);
            local.add(panel, 100 * sums[1]);
            missed.add(panel, 100 * sums[2]);
        }
        Chart alone = new Chart(
                "silo-2b",
                "Duplicates found by similarity alone (figure 2b)",
                Axis.names("trace"),
                Axis.linear("% of the duplicates"),
                Chart.Mark.BARS,
                List.of(similar.build()));
        Chart both = new Chart(
                "silo-14",
                "Duplicates found by similarity, and by locality in addition (figure 14)",
                Axis.names("trace"),
                Axis.linear("% of the duplicates"),
                Chart.Mark.BARS,
                List.of(similar.build(), local.build(), missed.build()));
        Axis degree = Axis.names("similarity degree");
        return List.of(
                Section.of(
                        "Similarity alone (SiLo, figure 2)",
                        "The similarity degree of a segment is the share of its chunks that the segment has to which"
                                + " its representative leads; 0 if that is not known.",
                        degrees.bars(
                                "silo-2a",
                                "Segments by their similarity degree (figure 2a)",
                                degree,
                                "% of the segments"),
                        alone),
                Section.of(
                        "Similarity and locality (SiLo, figures 13 and 14)",
                        "Locality is what the volume's index finds beyond similarity alone, in the blocks in memory.",
                        found.bars(
                                "silo-13",
                                "Duplicates found, by similarity degree (figure 13)",
                                degree,
                                "% of the duplicates"),
                        both));
    }

    private Section sweep() throws IOException {
        Charts found = new Charts();
        Charts time = new Charts();
        for (Map.Entry<String, IndexRun> run : runs.entrySet()) {
            for (long segment : SEGMENTS) {
                String name = "segments of " + ByteSize.rounded(segment);
                Line.Builder duplicates = Line.named(run.getKey(), name);
                Line.Builder seconds = Line.named(run.getKey(), name);
                for (long block : BLOCKS) {
                    IndexRow row = run.getValue()
                            .run(IndexKind.SILO, sizes.withSegment(segment).withBlock(block))
                            .row();
                    double mib = (double) block / MIB;
                    duplicates.add(mib, 100 * row.foundShare());
                    seconds.add(mib, run.getValue().secondsPerGib(row));
                }
                found.add(duplicates);
                time.add(seconds);
            }
        }
        Axis block = Axis.log2("MiB of a block");
        return Section.of(
                "Size of segment and block (SiLo, figures 10 and 11)",
                "The time is 1 us a chunk and that of the reads on a disk. The number of cached blocks is the same for"
                        + " all, so the cache grows with the block.",
                found.dots("silo-10", "Duplicates found (figure 10)", block, "% of the duplicates"),
                time.dots("silo-11", "Time of the index for a GiB of the trace (figure 11)", block, "seconds"));
    }

    private Section routing() throws IOException {
        Charts balance = new Charts();
        Charts found = new Charts();
        Charts four = new Charts();
        for (Map.Entry<String, IndexRun> run : runs.entrySet()) {
            for (long block : new long[] {sizes.blockBytes(), 16 * MIB, 2 * MIB}) {
                String name = "blocks of " + ByteSize.rounded(block);
                Line.Builder most = Line.named(run.getKey(), "fullest node, " + name);
                Line.Builder duplicates = Line.named(run.getKey(), name);
                for (int nodes : NODES) {
                    long[] stored = run.getValue().routed(nodes, block);
                    long all = Arrays.stream(stored).sum();
                    long fullest = Arrays.stream(stored).max().orElse(0);
                    most.add(nodes, (double) fullest * nodes / all);
                    duplicates.add(nodes, 100 * run.getValue().foundShare(all));
                    if (nodes == NODES_OF_PAPER) {
                        Line.Builder each = Line.named(run.getKey(), name);
                        for (int node = 0; node < nodes; node++) {
                            each.add("node " + (node + 1), 100.0 * stored[node] / all);
                        }
                        four.add(each);
                    }
                }
                balance.add(most);
                found.add(duplicates);
            }
        }
        Axis nodes = Axis.log2("nodes");
        return Section.of(
                "Blocks over nodes (SiLo, figure 18)",
                "A block goes to the node with the number of its representative modulo the nodes. Each node finds all"
                        + " duplicates of what it has, and none of what others have.",
                four.bars("silo-18", "Stored by each of four nodes (figure 18)", Axis.names("node"), "% of all"),
                balance.dots("silo-18-balance", "Stored by the fullest node, times the mean", nodes, "times the mean"),
                found.dots(
                        "silo-18-found",
                        "Duplicates found, of those that one node finds",
                        nodes,
                        "% of the duplicates"));
    }

    private static Section table() throws IOException {
        Charts growth = new Charts();
        Line.Builder full = Line.named("relocations");
        Line.Builder auxiliary = Line.named("without a slot");
        Line.Builder matches = Line.named("look-ups of unknown fingerprints");
        for (int candidates : CANDIDATES) {
            TableStudy study = new TableStudy(candidates);
            Line.Builder line = Line.named("", candidates + " positions");
            for (double load : LOADS) {
                line.add(100 * load, study.fillTo(load));
            }
            double last = study.fillTo(CuckooTable.MOST_LOAD);
            line.add(100 * CuckooTable.MOST_LOAD, last);
            growth.add(line);
            full.add(candidates, last);
            auxiliary.add(candidates, 100 * study.auxiliaryShare());
            matches.add(candidates, 100 * study.falseMatches());
        }
        Axis positions = Axis.linear("positions of a fingerprint");
        return Section.of(
                "ChunkStash's table (ChunkStash, figure 4)",
                "Positions are the slots of buckets of eight, so a look-up asks memory once for eight positions. An"
                        + " entry without a slot goes to the auxiliary table.",
                growth.dots(
                        "chunkstash-4a",
                        "Relocations of an insertion as the table fills (figure 4a)",
                        Axis.linear("% of the slots in use"),
                        "relocations"),
                new Chart(
                        "chunkstash-4b",
                        "Relocations of an insertion, at 75 to 90 % (figure 4b)",
                        positions,
                        Axis.linear("relocations"),
                        Chart.Mark.DOTS,
                        List.of(full.build())),
                new Chart(
                        "chunkstash-4c",
                        "What more positions cost, at 90 % (in place of the times of figure 4c)",
                        positions,
                        Axis.linear("%"),
                        Chart.Mark.DOTS,
                        List.of(auxiliary.build(), matches.build())));
    }

    /** Lines of a chart that is made when all traces are through. */
    private static final class Charts {
        private final List<Line> lines = new ArrayList<>();

        void add(Line.Builder... more) {
            for (Line.Builder line : more) {
                lines.add(line.build());
            }
        }

        Chart bars(String name, String title, Axis x, String y) {
            return new Chart(name, title, x, Axis.linear(y), Chart.Mark.BARS, lines);
        }

        Chart dots(String name, String title, Axis x, String y) {
            return new Chart(name, title, x, Axis.linear(y), Chart.Mark.DOTS, lines);
        }
    }
}
