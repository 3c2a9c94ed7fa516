package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/**
 * A mounted volume, as JMX shows it: {@code org.opendedup.sar:type=Volume,name=<volume>}. The commands print the same values
 * under the same names, beginning with a small letter; these names are stable. Sizes are in bytes. A getter throws {@link
 * java.io.UncheckedIOException} when the volume cannot tell.
 */
@Description("A mounted volume")
@JsonPropertyOrder({
    "name",
    "mountPoint",
    "pid",
    "uptimeSeconds",
    "capacityBytes",
    "freeBytes",
    "logicalBytes",
    "uniqueBytes",
    "storedBytes",
    "dedupRatio",
    "reductionRatio",
    "chunks",
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

    @Description("Bytes that can still be written if nothing of them is a duplicate")
    @Unit("bytes")
    long getFreeBytes();

    @Description("Sum of the files' sizes")
    @Unit("bytes")
    long getLogicalBytes();

    @Description("Bytes of the stored chunks before compression, garbage included")
    @Unit("bytes")
    long getUniqueBytes();

    @Description("Bytes of the container files")
    @Unit("bytes")
    long getStoredBytes();

    @Description("Logical over unique bytes")
    @Unit("ratio")
    double getDedupRatio();

    @Description("Logical over stored bytes: deduplication and compression together")
    @Unit("ratio")
    double getReductionRatio();

    @Description("Stored chunks, garbage included")
    @Unit("chunks")
    long getChunks();

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
