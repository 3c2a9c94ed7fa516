package org.opendedup.sar.sim.restore;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.device.RandomReads;

/**
 * The evaluation of the lookahead paper (§4.2, Figures 8 to 12, and of its sets Table 1, Figures 3 and 4): restores of
 * backup sets with containers of 2 MiB, a few of them in memory. The read time of a container is that of a random read
 * of its size on the paper's nine disks.
 */
final class LookaheadPaper {
    static final int CONTAINER_BYTES = 2 << 20;
    /** The paper's usual cache (§3.5), in containers. */
    static final int CACHE = 4;

    private static final double BYTES_PER_MB = 1e6;
    private static final double MILLIS_PER_SECOND = 1000;

    /** A figure: the restores of each version with each of its setups. */
    record Figure(String name, String title, String text, List<Setup> setups) {}

    /**
     * A cache.
     *
     * @param label label in the figure
     * @param cache memory without the log, in containers
     * @param log additional log buffer, in containers
     * @param window window in containers; 0: the policy's default
     */
    record Setup(String label, CachePolicy policy, int cache, int log, int window, double hotThreshold) {
        static Setup of(String label, CachePolicy policy, int cache) {
            return new Setup(label, policy, cache, 0, 0, CacheParameters.PAPER_HOT_THRESHOLD);
        }

        static Setup logged(String label, int cache, int log) {
            return new Setup(label, CachePolicy.LOOKAHEAD_LOG, cache, log, 0, CacheParameters.PAPER_HOT_THRESHOLD);
        }

        Setup withWindow(int containers) {
            return new Setup(label, policy, cache, log, containers, hotThreshold);
        }

        Setup withHotThreshold(double threshold) {
            return new Setup(label, policy, cache, log, window, threshold);
        }

        CacheParameters parameters() {
            int containers = cache + log;
            return CacheParameters.of((long) containers * CONTAINER_BYTES, CONTAINER_BYTES)
                    .withLogShare((double) log / containers)
                    .withWindowContainers(window)
                    .withHotThreshold(hotThreshold);
        }

        /** Returns the same cache without its label in a figure. */
        Setup unnamed() {
            return new Setup("", policy, cache, log, window, hotThreshold);
        }
    }

    /**
     * One version of one set, restored with one cache.
     *
     * @param megabytesPerSecond rate with the machine's disks
     */
    record Row(
            String figure,
            String set,
            int version,
            String label,
            String policy,
            int cacheContainers,
            int logContainers,
            int windowContainers,
            double hotThreshold,
            int containerReads,
            int floor,
            double megabytesPerSecond) {}

    /** Properties of a set; shares are stored bytes over backed up ones, published ones as in the paper. */
    record SetRow(
            String set,
            int versions,
            @Nullable Integer runChunks,
            @Nullable Double changed,
            @Nullable Double added,
            @Nullable Double removed,
            @Nullable Double duplicates,
            double gigabytes,
            int containers,
            @Nullable Double storedSharePublished,
            double storedShare) {}

    static final List<Figure> FIGURES = figures();

    private final double containerMillis;
    private final Consumer<String> progress;
    private final List<Row> rows = new ArrayList<>();
    private final List<SetRow> sets = new ArrayList<>();
    private final ContainerAccesses accesses = new ContainerAccesses();

    /** @param progress receives a line for each completed figure of a set */
    LookaheadPaper(Machine machine, Consumer<String> progress) {
        containerMillis = RandomReads.meanMillis(machine, CONTAINER_BYTES);
        this.progress = progress;
    }

    private static List<Figure> figures() {
        return List.of(
                new Figure("figure-8", "Figure 8: base against LRU", "The cache is in containers.", baseAndLru()),
                new Figure(
                        "figure-9",
                        "Figure 9: hot threshold",
                        "A cache of 4 containers, and beside it a log of one.",
                        hotThresholds()),
                new Figure(
                        "figure-10",
                        "Figure 10: size of the log",
                        "A cache of 4 containers, and beside it the log.",
                        logs()),
                new Figure(
                        "figure-11",
                        "Figure 11: size of the window",
                        "A cache of 4 containers, a log of one beside it; the window is in containers.",
                        windows()),
                new Figure(
                        "figure-12",
                        "Figure 12: cache and log",
                        "8 containers of memory for cache (C) and log (L).",
                        splits()),
                new Figure(
                        "policies",
                        "All policies, ours among them",
                        "4 containers of memory for each, of which the log takes one.",
                        policies()));
    }

    private static List<Setup> baseAndLru() {
        return Stream.of(2, CACHE, 2 * CACHE)
                .flatMap(cache -> Stream.of(
                        Setup.of("LRU, cache " + cache, CachePolicy.LRU, cache),
                        Setup.of("base, cache " + cache, CachePolicy.LOOKAHEAD_BASE, cache)))
                .toList();
    }

    private static List<Setup> hotThresholds() {
        Stream<Setup> logged = Stream.of(1, 3, 5, 7)
                .map(percent ->
                        Setup.logged("threshold " + percent + " %", CACHE, 1).withHotThreshold(percent / 100.0));
        return Stream.concat(Stream.of(Setup.of("base", CachePolicy.LOOKAHEAD_BASE, CACHE)), logged)
                .toList();
    }

    private static List<Setup> logs() {
        Stream<Setup> without =
                Stream.of(Setup.of("LRU", CachePolicy.LRU, CACHE), Setup.of("base", CachePolicy.LOOKAHEAD_BASE, CACHE));
        return Stream.concat(without, Stream.of(1, 2, 4).map(log -> Setup.logged("log " + log, CACHE, log)))
                .toList();
    }

    private static List<Setup> windows() {
        return Stream.of(2, 4, 8, 16, 32)
                .map(window -> Setup.logged("window " + window, CACHE, 1).withWindow(window))
                .toList();
    }

    private static List<Setup> splits() {
        int memory = 2 * CACHE;
        return Stream.of(1, 2, 4, 6)
                .map(log -> Setup.logged("C " + (memory - log) + ", L " + log, memory - log, log))
                .toList();
    }

    private static List<Setup> policies() {
        return Stream.of(CachePolicy.values())
                .map(policy -> policy == CachePolicy.LOOKAHEAD_LOG
                        ? Setup.logged(policy.label(), CACHE - 1, 1)
                        : Setup.of(policy.label(), policy, CACHE))
                .toList();
    }

    /** Restores all versions of a set with each setup. */
    void run(BackupSet set) throws IOException {
        PackedTrace packed = new PackedTrace(CONTAINER_BYTES, version -> true);
        set.emit(packed);
        sets.add(describe(set, packed));
        accesses.add(set, packed);
        Map<Setup, int[]> done = new HashMap<>();
        for (Figure figure : FIGURES) {
            for (Setup setup : figure.setups()) {
                int[] reads = done.computeIfAbsent(setup.unnamed(), each -> reads(packed, each));
                addRows(figure, setup, set, packed, reads);
            }
            progress.accept(set.name() + ": " + figure.title());
        }
    }

    private static SetRow describe(BackupSet set, PackedTrace packed) {
        long backedUp = packed.recipes().stream().mapToLong(packed::bytes).sum();
        long stored = 0;
        for (int container = 1; container <= packed.containers().count(); container++) {
            stored += packed.containers().bytesOf(container);
        }
        var series = set.series();
        return new SetRow(
                set.name(),
                packed.recipes().size(),
                series == null ? null : series.runChunks(),
                series == null ? null : series.changed(),
                series == null ? null : series.added(),
                series == null ? null : series.removed(),
                series == null ? null : series.duplicates(),
                Math.round(backedUp / BYTES_PER_MB) / 1000.0,
                packed.containers().count(),
                set.published() == null ? null : set.published().all(),
                Math.round(1000.0 * stored / backedUp) / 1000.0);
    }

    private static int[] reads(PackedTrace packed, Setup setup) {
        return packed.recipes().stream()
                .mapToInt(recipe -> RestoreSimulation.run(
                                recipe, packed.containers(), setup.policy().make(setup.parameters(), ChunkHolder.NONE))
                        .containerReads())
                .toArray();
    }

    private void addRows(Figure figure, Setup setup, BackupSet set, PackedTrace packed, int[] reads) {
        for (int i = 0; i < reads.length; i++) {
            Recipe recipe = packed.recipes().get(i);
            double seconds = reads[i] * containerMillis / MILLIS_PER_SECOND;
            rows.add(new Row(
                    figure.name(),
                    set.name(),
                    recipe.version(),
                    setup.label(),
                    setup.policy().label(),
                    setup.cache(),
                    setup.log(),
                    setup.window(),
                    setup.hotThreshold(),
                    reads[i],
                    packed.floor(recipe),
                    Math.round(packed.bytes(recipe) / BYTES_PER_MB / seconds * 1000) / 1000.0));
        }
    }

    List<Row> rows() {
        return rows;
    }

    List<SetRow> sets() {
        return sets;
    }

    ContainerAccesses accesses() {
        return accesses;
    }

    /** Returns the time of a container's read on the machine, in milliseconds. */
    double containerMillis() {
        return containerMillis;
    }
}
