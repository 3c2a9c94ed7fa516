package org.opendedup.sar.sim.restore;

/**
 * What a restore took.
 *
 * @param containerReads containers read from the disk, each whole
 * @param bytesRead bytes of chunks in them
 * @param memoryHighWaterBytes the most bytes of chunks that were in memory at one time
 * @param tableBytes heap bytes of the tables that the policy decided by, at the end
 */
public record RestoreCost(int containerReads, long bytesRead, long memoryHighWaterBytes, long tableBytes) {}
