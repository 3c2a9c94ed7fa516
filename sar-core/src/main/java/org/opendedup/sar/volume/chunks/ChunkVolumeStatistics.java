package org.opendedup.sar.volume.chunks;

import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ReadStatistics;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.EngineInUse;

/**
 * Figures of a volume of chunks.
 *
 * @param chunks copies that exist, with or without references
 * @param chunkBytes their bytes before compression
 * @param garbageChunks those without references
 * @param garbageBytes their bytes before compression
 * @param containers number of containers
 * @param containerBytes bytes of the containers on the disk
 * @param reclaimableBytes estimated part of {@code containerBytes} that a collection would return, as of the last
 *     commit; within their grace period chunks stay nevertheless
 * @param capacityBytes bytes that the volume may have
 * @param logReferences references in the logs of all streams
 * @param memoryBudgetBytes the configured memory budget
 * @param traffic what was written and read since the volume was opened
 * @param disk how reads were served since the volume was opened
 * @param commits number of commits since the volume was opened
 */
public record ChunkVolumeStatistics(
        long chunks,
        long chunkBytes,
        long garbageChunks,
        long garbageBytes,
        long containers,
        long containerBytes,
        long reclaimableBytes,
        long capacityBytes,
        long logReferences,
        long memoryBudgetBytes,
        Traffic traffic,
        Disk disk,
        long commits) {
    /**
     * What clients wrote and read.
     *
     * @param storedBytes bytes of new chunks
     * @param duplicateBytes bytes of chunks that were stored already
     * @param readBytes bytes of chunks that were read
     * @param framesAhead frames that were asked for ahead of readers in the order of containers
     * @param chunksAhead chunks that readers of a stream found fetched ahead along its log
     */
    public record Traffic(long storedBytes, long duplicateBytes, long readBytes, long framesAhead, long chunksAhead) {}

    /**
     * Reads of containers.
     *
     * @param reads number of them
     * @param bytes their bytes
     * @param cacheHits frames found in memory
     * @param cacheMisses frames read from the disk
     */
    public record Disk(long reads, long bytes, long cacheHits, long cacheMisses) {}

    static ChunkVolumeStatistics of(EngineInUse volume, long capacityBytes, Traffic traffic) {
        StoredCopies stored = volume.metadata().totals().stored();
        ContainerStore containers = volume.containers();
        ReadStatistics reads = containers.readStatistics();
        ChunkEngine engine = volume.engine();
        return new ChunkVolumeStatistics(
                stored.chunks(),
                stored.bytes(),
                stored.garbageChunks(),
                stored.garbageBytes(),
                containers.containers(),
                containers.storedBytes(),
                volume.metadata().containers().garbageBytes(),
                capacityBytes,
                volume.metadata().streamLogs().references(),
                engine.plan().budget(),
                traffic,
                new Disk(
                        reads.diskReads(),
                        reads.diskReadBytes(),
                        engine.restore().cacheHits(),
                        engine.restore().cacheMisses()),
                volume.committer().commits());
    }

    /** Bytes of new chunks, stored since the volume was opened. */
    public long storedBytes() {
        return traffic.storedBytes();
    }

    /** Bytes of chunks that were stored already, put since the volume was opened. */
    public long duplicateBytes() {
        return traffic.duplicateBytes();
    }

    /** Bytes of chunks read since the volume was opened. */
    public long readBytes() {
        return traffic.readBytes();
    }

    /** Frames that were asked for ahead of readers, in the order of containers, since the volume was opened. */
    public long framesAhead() {
        return traffic.framesAhead();
    }

    /** Chunks that readers found fetched ahead along the logs of streams, since the volume was opened. */
    public long chunksAhead() {
        return traffic.chunksAhead();
    }
}
