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
    String getName();

    @Description("Folder where it is mounted")
    String getMountPoint();

    @Description("Process that serves it")
    long getPid();

    @Description("Seconds since it was mounted")
    long getUptimeSeconds();

    @Description("The most bytes its files may hold")
    long getCapacityBytes();

    @Description("Bytes that can still be written if nothing of them is a duplicate")
    long getFreeBytes();

    @Description("Sum of the files' sizes")
    long getLogicalBytes();

    @Description("Bytes of the stored chunks before compression, garbage included")
    long getUniqueBytes();

    @Description("Bytes of the container files")
    long getStoredBytes();

    @Description("Logical over unique bytes")
    double getDedupRatio();

    @Description("Logical over stored bytes: deduplication, zero runs and compression together")
    double getReductionRatio();

    @Description("Stored chunks, garbage included")
    long getChunks();

    @Description("Container files")
    long getContainers();

    @Description("Inodes in use, folders included")
    long getFiles();

    @Description("Inodes that the kernel's caches hold, or that are open")
    long getInodesInUse();

    @Description("Bytes given to readers since the volume was mounted")
    long getReadBytes();

    @Description("Bytes taken from writers since the volume was mounted")
    long getWrittenBytes();

    @Description("Of the bytes written, those found stored already")
    long getDuplicateBytes();

    @Description("Of the bytes written, those of zero runs, which are not stored")
    long getZeroBytes();

    @Description("Container reads since the volume was mounted")
    long getDiskReads();

    @Description("Bytes of these reads")
    long getDiskReadBytes();

    @Description("Frames found in memory")
    long getCacheHits();

    @Description("Frames read from the disk")
    long getCacheMisses();

    @Description("Bytes accepted and not yet stored")
    long getDirtyBytes();

    @Description("Metadata commits since the volume was mounted")
    long getCommits();

    @Description("Memory budget of the volume")
    long getMemoryBudgetBytes();

    @Description("Resident memory of the process, by /proc/self/status")
    long getRssBytes();
}
