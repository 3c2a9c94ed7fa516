package org.opendedup.sar.sdfs.jmx;

import java.util.List;

/**
 * The figures of a volume that do not depend on files: all of them of a volume of chunks, {@link ChunkVolumeMXBean},
 * and some of a volume of files, {@link VolumeMXBean}. Sizes are in bytes. A getter throws
 * {@link java.io.UncheckedIOException} if the volume cannot return the value.
 */
public interface ChunkFigures {
    @Description("Name of the volume")
    @Unit("name")
    String getName();

    @Description("Process ID of the process that has the volume open")
    @Unit("process id")
    long getPid();

    @Description("Seconds since it was mounted")
    @Unit("seconds")
    long getUptimeSeconds();

    @Description("Bytes that the fullest device can store if none of them is a duplicate")
    @Unit("bytes")
    long getDeviceFreeBytes();

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

    @Description("Bytes on the devices that the volume keeps for itself: ballasts, and free space for deletes")
    @Unit("bytes")
    long getReservedBytes();

    @Description("Stored chunks that files refer to")
    @Unit("chunks")
    long getChunks();

    @Description("Stored chunks that no file refers to")
    @Unit("chunks")
    long getGarbageChunks();

    @Description("Container files")
    @Unit("containers")
    long getContainers();

    @Description("Bytes that programs have read since the volume was mounted")
    @Unit("bytes")
    long getReadBytes();

    @Description("Bytes that programs have written since the volume was mounted")
    @Unit("bytes")
    long getWrittenBytes();

    @Description("Written bytes that were stored already")
    @Unit("bytes")
    long getDuplicateBytes();

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

    @Description("Metadata commits since the volume was mounted")
    @Unit("commits")
    long getCommits();

    @Description("Memory budget of the volume")
    @Unit("bytes")
    long getMemoryBudgetBytes();

    @Description("Resident memory of the process, from /proc/self/status")
    @Unit("bytes")
    long getRssBytes();

    @Description("Whether the volume is well, degraded or damaged")
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
}
