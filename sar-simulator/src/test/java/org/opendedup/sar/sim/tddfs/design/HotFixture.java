package org.opendedup.sar.sim.tddfs.design;

import java.io.IOException;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.TierCosts;
import org.opendedup.sar.sim.tddfs.tier.Traffic;

/** Makes tiers for tests: recipes take no space unless wanted, and files leave exactly until the limit. */
final class HotFixture {
    long limit = 100_000;
    double ratio = 1;
    ChunkCutter.Scope scope = ChunkCutter.Scope.FILE;
    double garbageShare = 1;
    int recipeEntryBytes;
    long windowBytes;
    long seed = 1;
    final Traffic traffic = new Traffic();

    Tiers tiers() {
        try {
            TierClock clock = new TierClock(
                    TierCosts.of(Machine.load("tddfs"), TierCosts.Dedup.ASSUMED), 1, Long.MAX_VALUE, false);
            clock.start();
            return new Tiers(
                    clock,
                    traffic,
                    limit,
                    new Tiers.Rules(1, 0.05, 0.10, recipeEntryBytes, garbageShare, false, windowBytes),
                    new ChunkCutter.Sharing(ratio, scope, 1, 1),
                    seed);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
