package org.opendedup.sar.volume;

/**
 * Figures of a volume of chunks.
 *
 * @param chunks copies that exist, with or without references
 * @param chunkBytes their bytes before compression
 * @param garbageBytes bytes, before compression, of those without references
 * @param containerBytes bytes of the containers on the disk
 * @param capacityBytes bytes that the volume may have
 * @param storedBytes bytes of new chunks, stored since the volume was opened
 * @param duplicateBytes bytes of chunks that were stored already, since the volume was opened
 * @param readBytes bytes of chunks read since the volume was opened
 * @param framesAhead frames that were asked for ahead of readers in the order of containers, since the volume was
 *     opened
 * @param chunksAhead chunks that readers of a stream found fetched ahead along its log, since the volume was opened
 * @param logReferences references in the logs of all streams
 * @param commits number of commits since the volume was opened
 */
public record ChunkVolumeStatistics(
        long chunks,
        long chunkBytes,
        long garbageBytes,
        long containerBytes,
        long capacityBytes,
        long storedBytes,
        long duplicateBytes,
        long readBytes,
        long framesAhead,
        long chunksAhead,
        long logReferences,
        long commits) {}
