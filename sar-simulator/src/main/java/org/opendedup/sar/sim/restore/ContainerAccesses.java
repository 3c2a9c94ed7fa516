package org.opendedup.sar.sim.restore;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;

/**
 * What the lookahead paper says of its backup sets themselves: the data that each version adds (Table 1), the part of
 * each shared container that a version uses (Figure 3), and the containers in the order of their use (Figure 4).
 */
final class ContainerAccesses {
    /** Upper bounds of the shares in Figure 3, in percent of a container's chunks. */
    private static final double[] SHARES = {0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100};
    /** Parts of a set's chunks in Figure 4, each with its lowest and its highest container. */
    private static final int PARTS = 240;

    /**
     * A row of Table 1.
     *
     * @param storedShare stored bytes over backed up ones, of this version
     */
    record VersionRow(String set, int version, @Nullable Double storedSharePublished, double storedShare) {}

    /**
     * A point of Figure 3: the shared containers of all versions of which at most a share of the chunks is used, and
     * more than the share before it. A container is shared if an earlier version filled it; it counts for each version
     * that uses it. The paper does not say whether it counts so, or each visit: the successive chunks of one container.
     * Visits are also those to older containers of the same version.
     *
     * @param upToPercent share of the container's chunks
     * @param containersPercent share of the containers with this share of their chunks, or a smaller one
     * @param visits visits that use this share of the chunks
     * @param visitsPercent as {@code containersPercent}
     */
    record ShareRow(
            String set,
            double upToPercent,
            int containers,
            double containersPercent,
            int visits,
            double visitsPercent) {}

    /**
     * A part of a set's chunks in Figure 4.
     *
     * @param chunk number of its first chunk, in the order of the versions
     */
    record AccessRow(String set, int version, long chunk, long firstContainer, long least, long greatest) {}

    private final List<VersionRow> versions = new ArrayList<>();
    private final List<ShareRow> shares = new ArrayList<>();
    private final List<AccessRow> accesses = new ArrayList<>();

    /** Adds a set with all of its versions. */
    void add(BackupSet set, PackedTrace packed) {
        addVersions(set, packed);
        addShares(set, packed);
        addAccesses(set, packed);
    }

    private void addVersions(BackupSet set, PackedTrace packed) {
        List<Recipe> recipes = packed.recipes();
        for (int i = 0; i < recipes.size(); i++) {
            int end = i + 1 < recipes.size()
                    ? recipes.get(i + 1).containersBefore()
                    : packed.containers().count();
            long stored = 0;
            for (int container = recipes.get(i).containersBefore() + 1; container <= end; container++) {
                stored += packed.containers().bytesOf(container);
            }
            versions.add(new VersionRow(
                    set.name(),
                    recipes.get(i).version(),
                    set.published() == null ? null : set.published().versions().get(i),
                    rounded((double) stored / packed.bytes(recipes.get(i)))));
        }
    }

    private void addShares(BackupSet set, PackedTrace packed) {
        int[] containers = new int[SHARES.length];
        int[] visits = new int[SHARES.length];
        for (Recipe recipe : packed.recipes()) {
            Map<Long, BitSet> used = new HashMap<>();
            for (int i = 0; i < recipe.count(); i++) {
                long container = ChunkId.container(recipe.chunkId(i));
                if (container <= recipe.containersBefore()) {
                    used.computeIfAbsent(container, id -> new BitSet()).set(ChunkId.slot(recipe.chunkId(i)));
                }
            }
            used.forEach((container, slots) -> containers[boundOf(packed, container, slots.cardinality())]++);
            countVisits(packed, recipe, visits);
        }
        for (int i = 0; i < SHARES.length; i++) {
            shares.add(new ShareRow(
                    set.name(),
                    SHARES[i],
                    containers[i],
                    percentUpTo(containers, i),
                    visits[i],
                    percentUpTo(visits, i)));
        }
    }

    private static void countVisits(PackedTrace packed, Recipe recipe, int[] visits) {
        long newest = recipe.containersBefore();
        for (int from = 0, to; from < recipe.count(); from = to) {
            long container = ChunkId.container(recipe.chunkId(from));
            BitSet slots = new BitSet();
            for (to = from; to < recipe.count() && ChunkId.container(recipe.chunkId(to)) == container; to++) {
                slots.set(ChunkId.slot(recipe.chunkId(to)));
            }
            if (container <= recipe.containersBefore() || container < newest) {
                visits[boundOf(packed, container, slots.cardinality())]++;
            }
            newest = Math.max(newest, container);
        }
    }

    private static double percentUpTo(int[] counts, int bound) {
        int all = Arrays.stream(counts).sum();
        int sum = Arrays.stream(counts, 0, bound + 1).sum();
        return all == 0 ? 0 : rounded(100.0 * sum / all);
    }

    private static int boundOf(PackedTrace packed, long container, int used) {
        double percent = 100.0 * used / packed.containers().chunksOf(container);
        int bound = 0;
        while (percent > SHARES[bound]) {
            bound++;
        }
        return bound;
    }

    private void addAccesses(BackupSet set, PackedTrace packed) {
        long all = packed.recipes().stream().mapToLong(Recipe::count).sum();
        int length = (int) Math.max(1, all / PARTS);
        long chunk = 0;
        for (Recipe recipe : packed.recipes()) {
            for (int from = 0; from < recipe.count(); from += length) {
                int to = Math.min(recipe.count(), from + length);
                long least = Long.MAX_VALUE;
                long greatest = 0;
                for (int i = from; i < to; i++) {
                    // As in the paper, the first container is number 0.
                    long container = ChunkId.container(recipe.chunkId(i)) - 1;
                    least = Math.min(least, container);
                    greatest = Math.max(greatest, container);
                }
                accesses.add(new AccessRow(
                        set.name(),
                        recipe.version(),
                        chunk + from,
                        ChunkId.container(recipe.chunkId(from)) - 1,
                        least,
                        greatest));
            }
            chunk += recipe.count();
        }
    }

    private static double rounded(double value) {
        return Math.round(1000 * value) / 1000.0;
    }

    List<VersionRow> versions() {
        return versions;
    }

    List<ShareRow> shares() {
        return shares;
    }

    List<AccessRow> accesses() {
        return accesses;
    }
}
