package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.List;

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
public interface VolumeMXBean {
    @Description("Name of the volume")
    @Unit("name")
    String getName();

    @Description("Folder where it is mounted")
    @Unit("path")
    String getMountPoint();

    @Description("Process ID of the daemon")
    @Unit("process id")
    long getPid();

    @Description("Seconds since it was mounted")
    @Unit("seconds")
    long getUptimeSeconds();

    @Description("Largest number of bytes that the files may have, before deduplication")
    @Unit("bytes")
    long getCapacityBytes();

    @Description("Bytes of the capacity that files do not use, including root's share")
    @Unit("bytes")
    long getFreeBytes();

    @Description("Bytes that users other than root can write now if none is a duplicate, by capacity and devices")
    @Unit("bytes")
    long getAvailableBytes();

    @Description("Bytes that the fullest device can store if none of them is a duplicate")
    @Unit("bytes")
    long getDeviceFreeBytes();

    @Description("Bytes of the files without holes and zero runs: their use of the capacity")
    @Unit("bytes")
    long getLogicalBytes();

    @Description("Bytes of the stored chunks that files refer to, before compression")
    @Unit("bytes")
    long getUniqueBytes();

    @Description("Bytes of stored chunks that no file refers to, before compression")
    @Unit("bytes")
    long getGarbageBytes();

    @Description("Bytes of the container files: compressed, garbage included")
    @Unit("bytes")
    long getStoredBytes();

    @Description("Estimated part of the stored bytes that no file refers to: what a garbage collection returns")
    @Unit("bytes")
    long getReclaimableBytes();

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

    @Description("Bytes on the devices that the volume keeps for itself: ballasts, and free space for deletes")
    @Unit("bytes")
    long getReservedBytes();

    @Description("Logical bytes divided by unique bytes; does not count garbage")
    @Unit("ratio")
    double getDedupRatio();

    @Description("Logical bytes divided by stored bytes, which include garbage: deduplication and compression")
    @Unit("ratio")
    double getReductionRatio();

    @Description("Stored chunks that files refer to")
    @Unit("chunks")
    long getChunks();

    @Description("Stored chunks that no file refers to")
    @Unit("chunks")
    long getGarbageChunks();

    @Description("Container files")
    @Unit("containers")
    long getContainers();

    @Description("Inodes in use, folders included")
    @Unit("inodes")
    long getFiles();

    @Description("Inodes that are open or in the kernel's caches")
    @Unit("inodes")
    long getInodesInUse();

    @Description("Bytes that programs have read since the volume was mounted")
    @Unit("bytes")
    long getReadBytes();

    @Description("Bytes that programs have written since the volume was mounted")
    @Unit("bytes")
    long getWrittenBytes();

    @Description("Written bytes that were stored already")
    @Unit("bytes")
    long getDuplicateBytes();

    @Description("Written bytes of zero runs, which are not stored")
    @Unit("bytes")
    long getZeroBytes();

    @Description("Container reads since the volume was mounted")
    @Unit("reads")
    long getDiskReads();

    @Description("Bytes of these container reads")
    @Unit("bytes")
    long getDiskReadBytes();

    @Description("Frames found in memory")
    @Unit("frames")
    long getCacheHits();

    @Description("Frames read from the disk")
    @Unit("frames")
    long getCacheMisses();

    @Description("Bytes accepted and not yet stored")
    @Unit("bytes")
    long getDirtyBytes();

    @Description("Metadata commits since the volume was mounted")
    @Unit("commits")
    long getCommits();

    @Description("Memory budget of the volume")
    @Unit("bytes")
    long getMemoryBudgetBytes();

    @Description("Resident memory of the process, from /proc/self/status")
    @Unit("bytes")
    long getRssBytes();

    @Description("Whether the volume is well, degraded or damaged, as sdfscli VOLUME status shows")
    @Unit("name")
    String getHealth();

    @Description("What is wrong and what to do, the worst first; empty if the volume is well")
    @Unit("text")
    List<String> getFindings();

    @Description("Chunks that files refer to, known to be damaged and not healed, also from earlier mounts")
    @Unit("chunks")
    long getDamagedChunks();

    @Description("Damaged chunks that were healed since the volume was mounted")
    @Unit("chunks")
    long getHealedChunks();

    @Description("Frames found damaged since the volume was mounted")
    @Unit("frames")
    long getDamagedFrames();

    @Description("Containers found missing since the volume was mounted")
    @Unit("containers")
    long getMissingContainers();

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
