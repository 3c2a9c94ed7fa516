package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.volume.chunks.ChunkVolumeStatistics;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.VolumeStatistics;

/**
 * The figures of an open volume that do not depend on files: all of them of a volume of chunks, and some of a volume of
 * files, {@link VolumeFigures}. Sizes are in bytes. Commands and JMX show them under these names, which are stable.
 */
public record StoreFigures(
        @Figure(value = "Name of the volume", unit = "name") String name,

        @Figure(value = "Process ID of the process that has the volume open", unit = "process id")
        long pid,

        @Figure(value = "Seconds since it was mounted", unit = "seconds")
        long uptimeSeconds,

        @Figure(value = "Bytes that the fullest device can store if none of them is a duplicate", unit = "bytes")
        long deviceFreeBytes,

        @Figure(value = "Bytes of the stored chunks that files refer to, before compression", unit = "bytes")
        long uniqueBytes,

        @Figure(value = "Bytes of stored chunks that no file refers to, before compression", unit = "bytes")
        long garbageBytes,

        @Figure(value = "Bytes of the container files: compressed, garbage included", unit = "bytes")
        long storedBytes,

        @Figure(
                value = "Estimated part of the stored bytes that no file refers to: what a garbage collection returns",
                unit = "bytes")
        long reclaimableBytes,

        @Figure(
                value = "Bytes on the devices that the volume keeps for itself: ballasts, and free space for deletes",
                unit = "bytes")
        long reservedBytes,

        @Figure(value = "Stored chunks that files refer to", unit = "chunks")
        long chunks,

        @Figure(value = "Stored chunks that no file refers to", unit = "chunks")
        long garbageChunks,

        @Figure(value = "Container files", unit = "containers")
        long containers,

        @Figure(value = "Bytes that programs have read since the volume was mounted", unit = "bytes", counter = true)
        long readBytes,

        @Figure(value = "Bytes that programs have written since the volume was mounted", unit = "bytes", counter = true)
        long writtenBytes,

        @Figure(value = "Written bytes that were stored already", unit = "bytes", counter = true)
        long duplicateBytes,

        @Figure(value = "Container reads since the volume was mounted", unit = "reads", counter = true)
        long diskReads,

        @Figure(value = "Bytes of these container reads", unit = "bytes", counter = true)
        long diskReadBytes,

        @Figure(value = "Frames found in memory", unit = "frames", counter = true)
        long cacheHits,

        @Figure(value = "Frames read from the disk", unit = "frames", counter = true)
        long cacheMisses,

        @Figure(value = "Metadata commits since the volume was mounted", unit = "commits", counter = true)
        long commits,

        @Figure(value = "Memory budget of the volume", unit = "bytes")
        long memoryBudgetBytes,

        @Figure(value = "Resident memory of the process, from /proc/self/status", unit = "bytes")
        long rssBytes,

        @Figure(value = "Whether the volume is well, degraded or damaged", unit = "name")
        String health,

        @Figure(value = "What is wrong and what to do, the worst first; empty if the volume is well", unit = "text")
        List<String> findings,

        @Figure(
                value = "Chunks that files refer to, known to be damaged and not healed, also from earlier mounts",
                unit = "chunks")
        long damagedChunks,

        @Figure(value = "Damaged chunks that were healed since the volume was mounted", unit = "chunks", counter = true)
        long healedChunks,

        @Figure(value = "Frames found damaged since the volume was mounted", unit = "frames", counter = true)
        long damagedFrames,

        @Figure(value = "Containers found missing since the volume was mounted", unit = "containers", counter = true)
        long missingContainers) {
    /**
     * Returns the figures of a volume of files.
     *
     * @param begunNanos when it was mounted, as {@link System#nanoTime}
     */
    static StoreFigures of(
            String name,
            long begunNanos,
            VolumeStatistics statistics,
            long deviceFreeBytes,
            HealthWatch.Judgement<?> judgement,
            VolumeCondition condition) {
        return new StoreFigures(
                name,
                ProcessHandle.current().pid(),
                secondsSince(begunNanos),
                deviceFreeBytes,
                statistics.uniqueBytes(),
                statistics.garbageBytes(),
                statistics.storedBytes(),
                statistics.reclaimableBytes(),
                statistics.reservedBytes(),
                statistics.chunks(),
                statistics.garbageChunks(),
                statistics.containers(),
                statistics.readBytes(),
                statistics.writtenBytes(),
                statistics.duplicateBytes(),
                statistics.diskReads(),
                statistics.diskReadBytes(),
                statistics.cacheHits(),
                statistics.cacheMisses(),
                statistics.commits(),
                statistics.memoryBudgetBytes(),
                ProcessMemory.residentBytes(),
                judgement.health().toString(),
                lines(judgement),
                condition.damagedChunks(),
                condition.healedChunks(),
                condition.damagedFrames(),
                condition.missingContainers());
    }

    /**
     * Returns the figures of a volume of chunks.
     *
     * @param begunNanos when it was mounted, as {@link System#nanoTime}
     */
    public static StoreFigures of(
            String name,
            long begunNanos,
            ChunkVolumeStatistics statistics,
            long deviceFreeBytes,
            long reservedBytes,
            HealthWatch.Judgement<StoreFacts> judgement) {
        VolumeCondition condition = judgement.facts().condition();
        return new StoreFigures(
                name,
                ProcessHandle.current().pid(),
                secondsSince(begunNanos),
                deviceFreeBytes,
                statistics.chunkBytes() - statistics.garbageBytes(),
                statistics.garbageBytes(),
                statistics.containerBytes(),
                statistics.reclaimableBytes(),
                reservedBytes,
                statistics.chunks() - statistics.garbageChunks(),
                statistics.garbageChunks(),
                statistics.containers(),
                statistics.readBytes(),
                statistics.storedBytes() + statistics.duplicateBytes(),
                statistics.duplicateBytes(),
                statistics.disk().reads(),
                statistics.disk().bytes(),
                statistics.disk().cacheHits(),
                statistics.disk().cacheMisses(),
                statistics.commits(),
                statistics.memoryBudgetBytes(),
                ProcessMemory.residentBytes(),
                judgement.health().toString(),
                lines(judgement),
                condition.damagedChunks(),
                condition.healedChunks(),
                condition.damagedFrames(),
                condition.missingContainers());
    }

    private static long secondsSince(long begunNanos) {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begunNanos);
    }

    private static List<String> lines(HealthWatch.Judgement<?> judgement) {
        return judgement.findings().stream().map(Finding::line).toList();
    }
}
