package org.opendedup.sar.sim.estimate;

import org.opendedup.sar.volume.MemoryPlan;

/** What chunks take in the volume's databases and in memory; docs/FORMAT.md has the sums. */
final class MemoryNeed {
    private static final double INDEX_BYTES = 85;
    private static final double FILTER_BYTES = 1.25;
    /** A recipe's entry takes 6 to 7 bytes, a chunk that crosses a page border two of them; a count one or two. */
    private static final double RECIPE_BYTES = 8;
    /** A third of the index's native memory is for write buffers; filters have the rest. */
    private static final double FILTER_SHARE = 2.0 / 3;

    private static final long MIB = 1 << 20;
    /** Of which the index has its full share; of a small budget threads take more. */
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
