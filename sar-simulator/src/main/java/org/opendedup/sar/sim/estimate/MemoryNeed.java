package org.opendedup.sar.sim.estimate;

import org.opendedup.sar.volume.config.MemoryPlan;

/** Computes the space of chunks in the volume's databases and in memory; docs/FORMAT.md has the sums. */
final class MemoryNeed {
    private static final double INDEX_BYTES = 85;
    private static final double FILTER_BYTES = 1.25;
    /**
     * Bytes of a recipe and counts, for each reference. A recipe's entry has 6 to 7 bytes, a chunk that crosses a page
     * border has two entries; a count has one or two bytes.
     */
    private static final double RECIPE_BYTES = 8;
    /** Share of the index's native memory for filters; the other third is for write buffers. */
    private static final double FILTER_SHARE = 2.0 / 3;

    private static final long MIB = 1 << 20;
    /** A budget in which the index has its full share, in bytes; of a small budget threads use more. */
    private static final long LARGE_BUDGET_BYTES = 1L << 30;

    private MemoryNeed() {}

    static Estimate.Memory of(double chunks, long references) {
        double filterBytes = FILTER_BYTES * chunks;
        double filterShareOfBudget =
                FILTER_SHARE * MemoryPlan.of(LARGE_BUDGET_BYTES).indexNative() / LARGE_BUDGET_BYTES;
        long budget =
                Math.max(MemoryPlan.MIN_BUDGET_BYTES, (long) Math.ceil(filterBytes / filterShareOfBudget / MIB) * MIB);
        while (FILTER_SHARE * MemoryPlan.of(budget).indexNative() < filterBytes) {
            budget += MIB;
        }
        return new Estimate.Memory(
                Math.round(INDEX_BYTES * chunks),
                Math.round(RECIPE_BYTES * references),
                Math.round(filterBytes),
                budget);
    }
}
