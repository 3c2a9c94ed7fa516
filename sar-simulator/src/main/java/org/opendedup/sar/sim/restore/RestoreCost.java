package org.opendedup.sar.sim.restore;

/**
 * The cost of a restore.
 *
 * @param containerReads containers read from the disk, each as a whole
 * @param bytesRead bytes of chunks in them
 * @param memoryHighWaterBytes the most bytes of chunks that were in memory at one time
 * @param tableBytes heap bytes of the policy's tables, at the end
 */
public record RestoreCost(int containerReads, long bytesRead, long memoryHighWaterBytes, long tableBytes) {}
