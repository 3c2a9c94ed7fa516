package org.opendedup.sar.sim.restore;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.sim.report.Axis;
import org.opendedup.sar.sim.report.Chart;
import org.opendedup.sar.sim.report.Line;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;

/** Reports the lookahead paper's figures, from the counts of {@link LookaheadPaper}. */
final class LookaheadPaperReport {
    private static final String POLICIES = "policies";

    private static final Axis STORED = Axis.linear("% of what is backed up");
    private static final Axis USED = Axis.log10("chunks used of a container, up to %");
    private static final Axis CONTAINERS = Axis.linear("containers");
    private static final Axis SUM = Axis.linear("% of the containers");
    private static final Axis VISITS = Axis.linear("% of the visits");
    /** A number of one: many points, drawn as a line alone. */
    private static final Axis CONTAINER = Axis.linear("container");

    private final LookaheadPaper paper;

    /**
     * The gain of a policy over LRU with the same memory, over all versions of a set: in reads per container read, like
     * the paper's rates.
     *
     * @param overLruPercent gain in percent of LRU's rate
     */
    private record Gain(String set, String policy, long containerReads, long lruReads, double overLruPercent) {}

    private LookaheadPaperReport(LookaheadPaper paper) {
        this.paper = paper;
    }

    static Report of(LookaheadPaper paper, boolean isSynthetic, List<Report.Fact> facts) {
        return new LookaheadPaperReport(paper).report(isSynthetic, facts);
    }

    private Report report(boolean isSynthetic, List<Report.Fact> facts) {
        List<Section> sections = new ArrayList<>();
        Table sets = Table.of("sets", paper.sets());
        sections.add(Section.of("Backup sets", "storedShare is stored bytes over backed up ones.", sets));
        addSets(sections);
        for (LookaheadPaper.Figure figure : LookaheadPaper.FIGURES) {
            sections.add(Section.of(figure.title(), figure.text(), chart(figure)));
        }
        List<Gain> gains = gains();
        sections.add(Section.of(
                "Gain over LRU",
                "With 4 containers of memory, over all versions. Published: base 14.5 and 16.8 % on ds-1 and "
                        + "ds-2; with the log 64.3 % on ds-5 and ds-6.",
                chart(gains)));
        return new Report(
                "The lookahead paper's figures",
                isSynthetic,
                facts,
                sections,
                List.of(
                        sets,
                        Table.of("table-1", paper.accesses().versions()),
                        Table.of("figure-3", paper.accesses().shares()),
                        Table.of("figure-4", paper.accesses().accesses()),
                        Table.of("figures", paper.rows()),
                        Table.of("gains", gains)));
    }

    /** Adds what the paper shows of its sets. */
    private void addSets(List<Section> sections) {
        ContainerAccesses accesses = paper.accesses();
        sections.add(Section.of(
                "Table 1: new data of each version",
                "Stored bytes over backed up ones. The series have the same share in each later version.",
                chart("table-1", "Table 1: stored share by version", Axis.linear("version"), STORED, (set, lines) -> {
                    Line.Builder published = Line.bound(panel(set), "published");
                    Line.Builder here = Line.named(panel(set), "here");
                    for (ContainerAccesses.VersionRow row : accesses.versions()) {
                        if (row.set().equals(set) && row.storedSharePublished() != null) {
                            published.add(row.version(), 100 * row.storedSharePublished());
                        }
                        if (row.set().equals(set)) {
                            here.add(row.version(), 100 * row.storedShare());
                        }
                    }
                    lines.add(published.build());
                    lines.add(here.build());
                })));
        sections.add(Section.of(
                "Figure 3: use of shared containers",
                "A container is shared if an earlier version filled it. It counts for each version that uses it. A "
                        + "visit is the successive chunks of one older container.",
                chart(
                        "figure-3a",
                        "Figure 3a: shared containers by the chunks used",
                        USED,
                        CONTAINERS,
                        (set, lines) -> {
                            Line.Builder line = Line.named(set);
                            accesses.shares().stream()
                                    .filter(row -> row.set().equals(set))
                                    .forEach(row -> line.add(row.upToPercent(), row.containers()));
                            lines.add(line.build());
                        }),
                chart("figure-3b", "Figure 3b: the same, summed up", USED, SUM, (set, lines) -> {
                    Line.Builder line = Line.named(set);
                    accesses.shares().stream()
                            .filter(row -> row.set().equals(set))
                            .forEach(row -> line.add(row.upToPercent(), row.containersPercent()));
                    lines.add(line.build());
                }),
                chart("figure-3c", "Figure 3b for each visit of a container", USED, VISITS, (set, lines) -> {
                    Line.Builder line = Line.named(set);
                    accesses.shares().stream()
                            .filter(row -> row.set().equals(set))
                            .forEach(row -> line.add(row.upToPercent(), row.visitsPercent()));
                    lines.add(line.build());
                })));
        sections.add(Section.of(
                "Figure 4: containers in the order of their use",
                "Each part of the chunks is a vertical line from its lowest to its highest container.",
                chart("figure-4", "Figure 4: containers by chunk", Axis.linear("chunk"), CONTAINER, (set, lines) -> {
                    Line.Builder line = Line.named(panel(set), "container");
                    for (ContainerAccesses.AccessRow row : accesses.accesses()) {
                        if (row.set().equals(set)) {
                            line.add(row.chunk(), row.firstContainer());
                            line.add(row.chunk(), row.least());
                            line.add(row.chunk(), row.greatest());
                        }
                    }
                    lines.add(line.build());
                })));
    }

    private String panel(String set) {
        return paper.sets().size() == 1 ? "" : set;
    }

    private Chart chart(String name, String title, Axis x, Axis y, BiConsumer<String, List<Line>> linesOf) {
        List<Line> lines = new ArrayList<>();
        paper.sets().forEach(set -> linesOf.accept(set.set(), lines));
        Chart.Mark mark = y == CONTAINER ? Chart.Mark.LINES : Chart.Mark.DOTS;
        return new Chart("lookahead-" + name, title, x, y, mark, lines);
    }

    private Chart chart(LookaheadPaper.Figure figure) {
        List<Line> lines = new ArrayList<>();
        for (LookaheadPaper.SetRow set : paper.sets()) {
            String panel = panel(set.set());
            for (LookaheadPaper.Setup setup : figure.setups()) {
                Line.Builder line = Line.named(panel, setup.label());
                rows(figure.name(), set.set(), setup.label())
                        .forEach(row -> line.add(row.version(), row.megabytesPerSecond()));
                lines.add(line.build());
            }
        }
        return new Chart(
                "lookahead-" + figure.name(),
                figure.title(),
                Axis.linear("version"),
                Axis.linear("MB/s"),
                Chart.Mark.DOTS,
                lines);
    }

    private List<LookaheadPaper.Row> rows(String figure, String set, String label) {
        return paper.rows().stream()
                .filter(row -> row.figure().equals(figure)
                        && row.set().equals(set)
                        && row.label().equals(label))
                .toList();
    }

    private List<Gain> gains() {
        List<Gain> gains = new ArrayList<>();
        for (CachePolicy policy : CachePolicy.values()) {
            for (LookaheadPaper.SetRow set : paper.sets()) {
                long lru = reads(set.set(), CachePolicy.LRU);
                long reads = reads(set.set(), policy);
                gains.add(new Gain(
                        set.set(), policy.label(), reads, lru, Math.round(1000.0 * (lru - reads) / reads) / 10.0));
            }
        }
        return gains;
    }

    private long reads(String set, CachePolicy policy) {
        return rows(POLICIES, set, policy.label()).stream()
                .mapToLong(LookaheadPaper.Row::containerReads)
                .sum();
    }

    private static Chart chart(List<Gain> gains) {
        List<Line> lines = new ArrayList<>();
        for (CachePolicy policy : CachePolicy.values()) {
            if (policy != CachePolicy.LRU) {
                Line.Builder line = Line.named(policy.label());
                gains.stream()
                        .filter(gain -> gain.policy().equals(policy.label()))
                        .forEach(gain -> line.add(gain.set(), gain.overLruPercent()));
                lines.add(line.build());
            }
        }
        return new Chart(
                "lookahead-gains",
                "Gain over LRU",
                Axis.names(""),
                Axis.linear("% of LRU's rate"),
                Chart.Mark.BARS,
                lines);
    }
}
