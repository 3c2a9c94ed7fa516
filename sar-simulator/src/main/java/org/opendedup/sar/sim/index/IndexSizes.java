package org.opendedup.sar.sim.index;

import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.index.silo.SiloSettings;

/**
 * Sizes of the compared indexes.
 *
 * @param segmentBytes data of a SiLo segment, in bytes
 * @param blockBytes data of a SiLo block, in bytes
 * @param cachedBlocks blocks in SiLo's read cache; DDFS and ChunkStash cache the fingerprints of as many containers as
 *     hold the same amount of data
 * @param tableBytes most bytes of ChunkStash's table; 0: enough for all chunks
 * @param sampling ChunkStash's table has one of this many entries from the beginning
 * @param samples which entries these are
 * @param width positions of ChunkStash's table in which a fingerprint can be
 */
record IndexSizes(
        long segmentBytes,
        long blockBytes,
        int cachedBlocks,
        long tableBytes,
        int sampling,
        StashSettings.Samples samples,
        int width) {
    private static final long SIMILARITY_BYTES = Long.MAX_VALUE;
    private static final long DATABASE_BYTES = 16L << 20;

    /** Pages that ChunkStash has besides those of sealed containers: that of the container which a segment ends. */
    private static final int LEAST_FRAMES = 2;

    IndexSizes withSegment(long bytes) {
        return new IndexSizes(bytes, blockBytes, cachedBlocks, tableBytes, sampling, samples, width);
    }

    IndexSizes withBlock(long bytes) {
        return new IndexSizes(segmentBytes, bytes, cachedBlocks, tableBytes, sampling, samples, width);
    }

    int cachedContainers() {
        return (int) Math.max(1, cachedBlocks * blockBytes / StoredContainers.CONTAINER_BYTES);
    }

    SiloSettings silo() {
        return new SiloSettings(
                segmentBytes,
                blockBytes,
                cachedBlocks,
                SiloSettings.WRITTEN_BLOCKS,
                SIMILARITY_BYTES,
                DATABASE_BYTES,
                Long.MAX_VALUE);
    }

    /**
     * Returns the settings of ChunkStash.
     *
     * @param chunks chunks of the trace, repetitions included
     * @param bytes their bytes
     */
    StashSettings stash(long chunks, long bytes) {
        // Each container but the last is nearly full, and has a page or a few. No more pages are ever in use.
        long pages = bytes / StoredContainers.CONTAINER_BYTES * 2 + chunks / 512;
        return new StashSettings(
                tableBytes == 0 ? StashSettings.tableBytes(2 * chunks) + (1 << 20) : tableBytes,
                LEAST_FRAMES + (int) Math.min(cachedContainers(), pages),
                StashSettings.SEGMENT_BYTES,
                sampling,
                samples,
                width);
    }
}
