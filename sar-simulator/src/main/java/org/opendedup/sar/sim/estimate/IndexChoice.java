package org.opendedup.sar.sim.estimate;

import java.util.function.LongPredicate;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.index.silo.SiloSettings;
import org.opendedup.sar.volume.config.MemoryPlan;

/**
 * Recommends a fingerprint index by the rules of docs/INDEXES.md. An exact one that has the memory comes first:
 * ChunkStash if there is an SSD, otherwise RocksDB. If neither has it, duplicates are given up: with an SSD ChunkStash
 * keeps samples, as few as lose little; otherwise, or if these do not fit either, SiLo.
 */
final class IndexChoice {
    /** Highest interval of ChunkStash's samples, in entries: docs/INDEXES.md measures no higher one. */
    static final int MOST_SAMPLING = 64;

    /** Data of a segment that has an entry of SiLo's table, in bytes. */
    private static final long SEGMENT_BYTES = 2 << 20;
    /** Bytes of such an entry, at most. */
    private static final int ENTRY_BYTES = 19;

    private static final long MIB = 1 << 20;
    /** No machine has more memory, in MiB: 1 EiB. */
    private static final long MOST_MIB = 1L << 40;

    private final double chunks;
    private final double uniqueBytes;
    private final long ramBytes;
    private final boolean hasSsd;

    /**
     * What a volume will have.
     *
     * @param ramBytes largest memory budget, in bytes
     * @param hasSsd whether the index can be on an SSD
     * @param uniqueBytes bytes of different chunks; 0: those of the data that is examined
     */
    record Conditions(long ramBytes, boolean hasSsd, long uniqueBytes) {}

    /**
     * @param chunks different chunks of the examined data
     * @param uniqueBytes their bytes
     */
    IndexChoice(double chunks, double uniqueBytes, Conditions conditions) {
        double factor = conditions.uniqueBytes == 0 || uniqueBytes == 0 ? 1 : conditions.uniqueBytes / uniqueBytes;
        this.chunks = chunks * factor;
        this.uniqueBytes = uniqueBytes * factor;
        ramBytes = conditions.ramBytes;
        hasSsd = conditions.hasSsd;
    }

    Estimate.Index choose() {
        Estimate.Memory database = MemoryNeed.of(chunks, 0);
        long stashBudget = stashBudget(1);
        if (hasSsd && stashBudget <= ramBytes) {
            return index(
                    IndexClass.CHUNKSTASH,
                    1,
                    StashSettings.tableBytes(Math.round(chunks)),
                    stashBudget,
                    "exact, and there is an SSD for its log");
        }
        if (database.budgetBytes() <= ramBytes) {
            return index(
                    IndexClass.ROCKSDB,
                    1,
                    database.filterBytes(),
                    database.budgetBytes(),
                    hasSsd
                            ? "exact; chunkstash would need --memory-budget=" + ByteSize.exact(stashBudget)
                            : "exact, on any disk; chunkstash is for SSDs");
        }
        String tooMuch = "exact indexes need --memory-budget=" + ByteSize.exact(database.budgetBytes()) + " or more";
        for (int sampling = 2; hasSsd && sampling <= MOST_SAMPLING; sampling *= 2) {
            long budget = stashBudget(sampling);
            if (budget <= ramBytes) {
                return index(
                        IndexClass.CHUNKSTASH,
                        sampling,
                        StashSettings.tableBytes(Math.round(chunks / sampling)),
                        budget,
                        "near exact with one fingerprint in " + sampling + " in memory; " + tooMuch);
            }
        }
        long siloBudget = siloBudget();
        return index(
                IndexClass.SILO,
                1,
                similarityBytes() + SiloSettings.MIN_MEMORY_BYTES,
                siloBudget,
                "near exact for streams that recur in their order, as backups; " + tooMuch
                        + (siloBudget > ramBytes ? "; and --ram is too small for this one, too" : ""));
    }

    private Estimate.Index index(IndexClass kind, int sampling, long memoryBytes, long budgetBytes, String reason) {
        return new Estimate.Index(
                kind.label(),
                kind != IndexClass.SILO && sampling == 1,
                sampling,
                Math.round(chunks),
                memoryBytes,
                budgetBytes,
                ramBytes,
                hasSsd,
                reason);
    }

    private long stashBudget(int sampling) {
        long table = StashSettings.tableBytes((long) Math.ceil(chunks / sampling));
        return leastBudget(budget ->
                ChunkStashIndexFactory.settings(indexBytes(budget, IndexClass.CHUNKSTASH), IndexParameters.NONE)
                                .tableBytes()
                        >= table);
    }

    private long similarityBytes() {
        return (long) Math.ceil(uniqueBytes / SEGMENT_BYTES) * ENTRY_BYTES;
    }

    private long siloBudget() {
        return leastBudget(
                budget -> SiloSettings.of(indexBytes(budget, IndexClass.SILO)).similarityBytes() >= similarityBytes());
    }

    /** Returns what a volume with such a budget gives its index. */
    private static long indexBytes(long budget, IndexClass kind) {
        MemoryPlan plan = MemoryPlan.of(budget, kind);
        return plan.indexHeap() + plan.indexNative();
    }

    /** Returns the smallest budget that suffices, in whole MiB. A larger one must suffice as well. */
    private static long leastBudget(LongPredicate suffices) {
        long least = MemoryPlan.MIN_BUDGET_BYTES / MIB;
        long most = MOST_MIB;
        while (least < most) {
            long middle = (least + most) / 2;
            if (suffices.test(middle * MIB)) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        return least * MIB;
    }
}
