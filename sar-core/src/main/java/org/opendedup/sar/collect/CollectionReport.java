package org.opendedup.sar.collect;

/**
 * What a collection found and did. All bytes are stored bytes, that is, after compression.
 *
 * @param containers number of containers in the container table at the beginning
 * @param storedBytes their bytes in the packs
 * @param garbageBytes estimated bytes of chunks in them that no file refers to
 * @param victims number of containers that were chosen
 * @param victimBytes their bytes in the packs
 * @param recompressVictims number of further containers that were chosen to be compressed anew
 * @param recompressBytes their bytes in the packs
 * @param removed number of containers removed, because no chunk of them was referred to
 * @param rewritten number of containers written anew without their garbage
 * @param recompressed number of containers written anew only to compress them harder
 * @param incompressible number of containers that this would not have made smaller: they stay in their places
 * @param copiedBytes bytes that were written for the rewritten and the recompressed ones
 * @param recompressSavedBytes by how much frames of these that kept all their chunks are smaller
 * @param returnedBytes bytes given back to the file system for these containers, less the bytes copied
 * @param strayBytes bytes given back that no container had: what a crash or a failed write left
 * @param keptContainers number of victims that stay as they are, because a chunk of them could not be read, or was not
 *     known to be damaged
 * @param leftBytes estimated bytes of garbage that are left
 */
public record CollectionReport(
        long containers,
        long storedBytes,
        long garbageBytes,
        long victims,
        long victimBytes,
        long recompressVictims,
        long recompressBytes,
        long removed,
        long rewritten,
        long recompressed,
        long incompressible,
        long copiedBytes,
        long recompressSavedBytes,
        long returnedBytes,
        long strayBytes,
        long keptContainers,
        long leftBytes) {}
