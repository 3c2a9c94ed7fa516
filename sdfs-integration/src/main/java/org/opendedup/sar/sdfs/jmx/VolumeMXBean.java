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
})
public interface VolumeMXBean {
    @Description("Name of the volume")
    @Unit("name")
    String getName();

    @Description("Folder where it is mounted")
    @Unit("path")
    String getMountPoint();

    @Description("Process that serves it")
    @Unit("process id")
    long getPid();

    @Description("Seconds since it was mounted")
    @Unit("seconds")
    long getUptimeSeconds();

    @Description("The most bytes its files may hold")
    @Unit("bytes")
    long getCapacityBytes();

    @Description("Bytes of the capacity that files do not take; root's share is in them")
    @Unit("bytes")
    long getFreeBytes();

    @Description(
            "Bytes that others than root can write now if nothing of them is a duplicate: by capacity and by devices")
    @Unit("bytes")
    long getAvailableBytes();

    @Description("Bytes that the scarcest device can take if nothing of them is a duplicate")
    @Unit("bytes")
    long getDeviceFreeBytes();

    @Description("Bytes that the files have, without holes and zero runs: what they take of the capacity")
    @Unit("bytes")
    long getLogicalBytes();

    @Description("Bytes of the stored chunks that files refer to, before compression")
    @Unit("bytes")
    long getUniqueBytes();

    @Description(
            "Bytes of the stored chunks that no file refers to, before compression; written again, they are used again")
    @Unit("bytes")
    long getGarbageBytes();

    @Description("Bytes of the container files: compressed, garbage included")
    @Unit("bytes")
    long getStoredBytes();

    @Description("Logical over unique bytes, so without garbage")
    @Unit("ratio")
    double getDedupRatio();

    @Description(
            "Logical over stored bytes: deduplication and compression together; garbage counts as long as it is stored")
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

    @Description("Inodes that the kernel's caches hold, or that are open")
    @Unit("inodes")
    long getInodesInUse();

    @Description("Bytes given to readers since the volume was mounted")
    @Unit("bytes")
    long getReadBytes();

    @Description("Bytes taken from writers since the volume was mounted")
    @Unit("bytes")
    long getWrittenBytes();

    @Description("Of the bytes written, those found stored already")
    @Unit("bytes")
    long getDuplicateBytes();

    @Description("Of the bytes written, those of zero runs, which are not stored")
    @Unit("bytes")
    long getZeroBytes();

    @Description("Container reads since the volume was mounted")
    @Unit("reads")
    long getDiskReads();

    @Description("Bytes of these reads")
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

    @Description("Resident memory of the process, by /proc/self/status")
    @Unit("bytes")
    long getRssBytes();
}
