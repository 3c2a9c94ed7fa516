package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * The statistics of a mounted volume in JMX: {@code org.opendedup.sar:type=Volume,volume=<volume>}. The commands print
 * the same values under the same names, with a small first letter. These names are stable. Sizes are in bytes. A getter
 * throws {@link java.io.UncheckedIOException} if the volume cannot return the value.
 */
@Description("A mounted volume")
@JsonPropertyOrder({
    "name",
    "mountPoint",
    "pid",
    "uptimeSeconds",
    "capacityBytes",
    "freeBytes",
    "availableBytes",
    "deviceFreeBytes",
    "logicalBytes",
    "uniqueBytes",
    "garbageBytes",
    "storedBytes",
    "reclaimableBytes",
    "reservedBytes",
    "dedupRatio",
    "reductionRatio",
    "chunks",
    "garbageChunks",
    "containers",
    "files",
    "inodesInUse",
    "readBytes",
    "writtenBytes",
    "duplicateBytes",
    "zeroBytes",
    "diskReads",
    "diskReadBytes",
    "cacheHits",
    "cacheMisses",
    "dirtyBytes",
    "commits",
    "memoryBudgetBytes",
    "rssBytes",
    "health",
    "findings",
    "damagedChunks",
    "healedChunks",
    "damagedFrames",
    "missingContainers",
    "failedReads",
    "failedWrites",
    "failedSyncs",
    "refusedForSpace",
    "loggedWarnings",
    "loggedErrors",
})
public interface VolumeMXBean extends ChunkFigures {
    @Description("Folder where it is mounted")
    @Unit("path")
    String getMountPoint();

    @Description("Largest number of bytes that the files may have, before deduplication")
    @Unit("bytes")
    long getCapacityBytes();

    @Description("Bytes of the capacity that files do not use, including root's share")
    @Unit("bytes")
    long getFreeBytes();

    @Description("Bytes that users other than root can write now if none is a duplicate, by capacity and devices")
    @Unit("bytes")
    long getAvailableBytes();

    @Description("Bytes of the files without holes and zero runs: their use of the capacity")
    @Unit("bytes")
    long getLogicalBytes();

    @Description("Estimated bytes of second and further copies of chunks, before compression: what 'index join' would "
            + "join. Until the first exact pass of this mount, only content of which two copies were written since")
    @Unit("bytes")
    long getStoredTwiceBytes();

    @Description("Bytes of the log of a ChunkStash index, on its SSD; 0 with another class of index")
    @Unit("bytes")
    long getIndexLogBytes();

    @Description("Bytes of the disk index behind the log of a ChunkStash index; 0 if there is none")
    @Unit("bytes")
    long getDiskIndexBytes();

    @Description("Bound of a ChunkStash index and the copies of SAR on one SSD; 0 if they do not share one")
    @Unit("bytes")
    long getSharedSsdCapacityBytes();

    @Description("Bytes of such an SSD that the index has")
    @Unit("bytes")
    long getSharedSsdIndexBytes();

    @Description("Bytes of such an SSD that the copies may have now")
    @Unit("bytes")
    long getSharedSsdMostCopiesBytes();

    @Description("Fingerprints in the disk index behind the log of a ChunkStash index")
    @Unit("chunks")
    long getDiskIndexChunks();

    @Description("Logical bytes divided by unique bytes; does not count garbage")
    @Unit("ratio")
    double getDedupRatio();

    @Description("Logical bytes divided by stored bytes, which include garbage: deduplication and compression")
    @Unit("ratio")
    double getReductionRatio();

    @Description("Inodes in use, folders included")
    @Unit("inodes")
    long getFiles();

    @Description("Inodes that are open or in the kernel's caches")
    @Unit("inodes")
    long getInodesInUse();

    @Description("Written bytes of zero runs, which are not stored")
    @Unit("bytes")
    long getZeroBytes();

    @Description("Bytes accepted and not yet stored")
    @Unit("bytes")
    long getDirtyBytes();

    @Description("Reads of programs that failed with an I/O error since the volume was mounted")
    @Unit("requests")
    long getFailedReads();

    @Description("Writes of programs that failed with an I/O error since the volume was mounted")
    @Unit("requests")
    long getFailedWrites();

    @Description("Syncs and closes of files that failed with an I/O error since the volume was mounted")
    @Unit("requests")
    long getFailedSyncs();

    @Description("Writes and syncs that found no space since the volume was mounted")
    @Unit("requests")
    long getRefusedForSpace();

    @Description("Warnings that the daemon logged, including those that the log only counts")
    @Unit("events")
    long getLoggedWarnings();

    @Description("Errors that the daemon logged, including those that the log only counts")
    @Unit("events")
    long getLoggedErrors();
}
