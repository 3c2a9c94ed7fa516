package org.opendedup.sar.sim.restore;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * One line of the report: a version restored with a policy and an amount of memory.
 *
 * @param cacheContainers memory, in containers
 * @param floor containers that the version refers to: the fewest reads there can be
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
        long memoryHighWaterBytes) {}
