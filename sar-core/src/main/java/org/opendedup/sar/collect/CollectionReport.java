package org.opendedup.sar.collect;

/**
 * What a collection found and did. All bytes are stored bytes, that is, after compression.
 *
 * @param containers number of containers in the container table at the beginning
 * @param storedBytes their bytes in the packs
 * @param garbageBytes estimated bytes of chunks in them that no file refers to
 * @param victims number of containers that were chosen
 * @param victimBytes their bytes in the packs
 * @param removed number of containers removed, because no chunk of them was referred to
 * @param rewritten number of containers written anew without their garbage
 * @param copiedBytes bytes that were written for these
 * @param returnedBytes bytes given back to the file system for these containers, less the bytes copied
 * @param strayBytes bytes given back that no container had: what a crash or a failed write left
 * @param keptContainers number of victims that stay as they are, because a chunk of them could not be read
 * @param leftBytes estimated bytes of garbage that are left
 */
public record CollectionReport(
        long containers,
        long storedBytes,
        long garbageBytes,
        long victims,
        long victimBytes,
        long removed,
        long rewritten,
        long copiedBytes,
        long returnedBytes,
        long strayBytes,
        long keptContainers,
        long leftBytes) {}
