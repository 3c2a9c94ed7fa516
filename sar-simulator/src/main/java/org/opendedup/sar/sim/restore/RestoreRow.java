package org.opendedup.sar.sim.restore;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;

/**
 * One line of the report: a version restored with a policy and an amount of memory.
 *
 * @param cacheContainers memory, in containers
 * @param floor number of containers that the version refers to: the fewest possible reads
 * @param speedFactor MiB restored for each container read (Lillibridge, Eshghi and Bhagwat, FAST '13)
 */
@JsonPropertyOrder({
    "policy",
    "cacheContainers",
    "version",
    "containerReads",
    "floor",
    "speedFactor",
    "bytesRead",
    "memoryHighWaterBytes"
})
record RestoreRow(
        String policy,
        int cacheContainers,
        int version,
        int containerReads,
        int floor,
        double speedFactor,
        long bytesRead,
        long memoryHighWaterBytes) {
    private static final double MIB = 1 << 20;

    /** Restores a version and counts. */
    static RestoreRow of(PackedTrace packed, Recipe recipe, CachePolicy policy, CacheParameters parameters) {
        RestoreCost cost =
                RestoreSimulation.run(recipe, packed.containers(), policy.make(parameters, ChunkHolder.NONE));
        double speedFactor = packed.bytes(recipe) / MIB / cost.containerReads();
        return new RestoreRow(
                policy.label(),
                (int) (parameters.memoryBytes() / parameters.containerBytes()),
                recipe.version(),
                cost.containerReads(),
                packed.floor(recipe),
                Math.round(speedFactor * 1000) / 1000.0,
                cost.bytesRead(),
                cost.memoryHighWaterBytes());
    }
}
