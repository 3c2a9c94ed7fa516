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

    private MemoryNeed() {}

    static Estimate.Memory of(double chunks, long references) {
        double filterBytes = FILTER_BYTES * chunks;
        long least = MemoryPlan.MIN_BUDGET_BYTES;
        double filterShareOfBudget = FILTER_SHARE * MemoryPlan.of(least).indexNative() / least;
        long budget = (long) Math.ceil(filterBytes / filterShareOfBudget / MIB) * MIB;
        return new Estimate.Memory(
                Math.round(INDEX_BYTES * chunks),
                Math.round(RECIPE_BYTES * references),
                Math.round(filterBytes),
                Math.max(least, budget));
    }
}
