package org.opendedup.sar.ssd;

/**
 * The heap that one attached SSD may use.
 *
 * @param maxEntries largest number of entries of the Map table; a batch of 4096 may exceed it for a moment
 * @param offerBytes heap bytes for chunks on their way; two buffers of 2 MiB exist in any case
 */
public record StoreMemory(int maxEntries, long offerBytes) {}
