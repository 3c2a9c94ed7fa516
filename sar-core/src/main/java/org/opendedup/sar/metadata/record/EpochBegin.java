package org.opendedup.sar.metadata.record;

/**
 * The beginning of an epoch, as the database stores it.
 *
 * @param token random number that distinguishes it from the epoch of the same number in another history
 * @param firstContainer the lowest container id that the epoch could allocate
 */
public record EpochBegin(long token, long firstContainer) {}
