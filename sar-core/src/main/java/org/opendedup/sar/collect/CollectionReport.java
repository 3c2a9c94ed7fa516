package org.opendedup.sar.collect;

import org.opendedup.sar.common.Figure;

/**
 * What a collection found and did. All bytes are stored bytes, that is, after compression.
 *
 * @param containers number of containers in the container table at the beginning
 * @param victimBytes bytes in the packs of the victims
 * @param recompressVictims number of further containers that were chosen to be compressed anew
 * @param recompressBytes their bytes in the packs
 */
public record CollectionReport(
        long containers,

        @Figure(
                value = "Stored bytes of all containers when it began; this and the following are 0 unless it is done",
                unit = "bytes")
        long storedBytes,

        @Figure(value = "Stored bytes of chunks that no file referred to then, estimated", unit = "bytes")
        long garbageBytes,

        @Figure(value = "Containers that it chose", unit = "containers")
        long victims,

        long victimBytes,
        long recompressVictims,
        long recompressBytes,

        @Figure(value = "Containers that it removed, because no file referred to a chunk of them", unit = "containers")
        long removed,

        @Figure(value = "Containers that it wrote anew without their garbage", unit = "containers")
        long rewritten,

        @Figure(value = "Containers that it wrote anew only to compress them harder", unit = "containers")
        long recompressed,

        @Figure(
                value = "Containers that harder compression would not have made smaller: they stay in their places",
                unit = "containers")
        long incompressible,

        @Figure(value = "Bytes that it wrote for rewritten and recompressed containers", unit = "bytes")
        long copiedBytes,

        @Figure(value = "Bytes that harder compression has saved in frames that kept all their chunks", unit = "bytes")
        long recompressSavedBytes,

        @Figure(
                value = "Bytes that it returned for removed and rewritten containers, less the bytes written",
                unit = "bytes")
        long returnedBytes,

        @Figure(
                value = "Bytes that it returned and no container had: what a crash or a failed write had left",
                unit = "bytes")
        long strayBytes,

        @Figure(
                value = "Chosen containers that stay, because a chunk or the counts of them cannot be read, or a chunk"
                        + " was not known to be damaged",
                unit = "containers")
        long keptContainers,

        @Figure(value = "Stored bytes of garbage that it left, estimated", unit = "bytes")
        long leftBytes) {
    /** The report of no collection. */
    public static final CollectionReport NONE = new CollectionReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
