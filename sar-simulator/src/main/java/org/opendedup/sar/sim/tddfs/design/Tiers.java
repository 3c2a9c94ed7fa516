package org.opendedup.sar.sim.tddfs.design;

import org.opendedup.sar.sim.tddfs.policy.MigrationPolicy;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Traffic;

/**
 * What every design gets.
 *
 * @param fastLimitBytes bytes of the fast tier that may be in use before something leaves it (TDDFS paper, section 5.1:
 *     the actual fast tier usage limit)
 */
public record Tiers(
        TierClock clock, Traffic traffic, long fastLimitBytes, Rules rules, ChunkCutter.Sharing sharing, long seed) {
    /**
     * Rules of the designs, as shares from 0 to 1.
     *
     * @param stopShare share of the fast tier's limit down to which files leave. Not published
     * @param smallFilesShare share that small files have before they leave (section 3.2: "e.g., 5 %")
     * @param recipesShare share that recipes have before the least recently used ones leave (section 3.3: "e.g., 10 %")
     * @param recipeEntryBytes bytes of an entry of a recipe (section 3.3: 0.5 to 1 % of a file with chunks of 8 KB)
     * @param garbageShare share of the slow tier that is garbage before it is collected. Not published
     * @param allDedupBringsFiles whether a read of {@link AllDedup} brings the whole file. Not published
     * @param windowBytes bytes that {@link TddfsSar} reads ahead for a reader that continues where it ended
     */
    public record Rules(
            double stopShare,
            double smallFilesShare,
            double recipesShare,
            int recipeEntryBytes,
            double garbageShare,
            boolean allDedupBringsFiles,
            long windowBytes) {
        /** The rules of the paper; where it has none, chosen ones. */
        public static final Rules USUAL = new Rules(0.95, 0.05, 0.10, 48, 0.25, false, 4 << 20);

        /** Returns these rules with another share of garbage, and with or without whole files in {@link AllDedup}. */
        public Rules with(double share, boolean bringsFiles) {
            return new Rules(
                    stopShare, smallFilesShare, recipesShare, recipeEntryBytes, share, bringsFiles, windowBytes);
        }
    }

    MigrationPolicy.Limits limits(boolean hasSmallFileRule) {
        return new MigrationPolicy.Limits(
                fastLimitBytes, stopBytes(), hasSmallFileRule ? ChunkCutter.MOST_BYTES : -1, (long)
                        (rules.smallFilesShare() * fastLimitBytes));
    }

    long stopBytes() {
        return (long) (rules.stopShare() * fastLimitBytes);
    }
}
