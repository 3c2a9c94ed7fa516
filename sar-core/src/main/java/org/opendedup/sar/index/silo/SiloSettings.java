package org.opendedup.sar.index.silo;

import static org.opendedup.sar.index.IndexParameter.BLOCK;
import static org.opendedup.sar.index.IndexParameter.CACHE;
import static org.opendedup.sar.index.IndexParameter.SEGMENT;

import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.index.IndexParameters;

/**
 * Sizes of a SiLo index (SiLo, section 4.2).
 *
 * @param segmentBytes data of a segment, in bytes; 2 MiB in the paper
 * @param blockBytes data that a block stands for, in bytes; 256 MiB in the paper
 * @param cachedBlocks blocks in the read cache; 8 to 16 in the paper
 * @param writtenBlocks blocks that stay in memory after they were written (write buffer)
 * @param similarityBytes maximum memory of the similarity table, in bytes
 * @param databaseBytes native memory of the database of frame tables, in bytes
 * @param residentBytes maximum memory of the blocks in memory, in bytes: those of small chunks take more than usual,
 *     and fewer of them are cached then, at least one
 */
public record SiloSettings(
        long segmentBytes,
        long blockBytes,
        int cachedBlocks,
        int writtenBlocks,
        long similarityBytes,
        long databaseBytes,
        long residentBytes) {
    /** Usual data of a segment, in bytes: that of a segment of ingest. */
    public static final long SEGMENT_BYTES = 2L << 20;

    /** Usual data of a block, in bytes. */
    public static final long BLOCK_BYTES = 256L << 20;

    /** Usual number of blocks in the read cache: the one of the paper's comparison (section 4.3). */
    public static final int CACHED_BLOCKS = 10;

    public static final int WRITTEN_BLOCKS = 2;

    /** Memory of a block of {@link #BLOCK_BYTES} with chunks of 8 KiB, in bytes. */
    static final long BLOCK_MEMORY_BYTES = 7L << 18;

    /** Memory of the largest block that may be chosen: 1 GiB. */
    private static final long MOST_BLOCK_MEMORY_BYTES = 4 * BLOCK_MEMORY_BYTES;

    /** Smallest memory of the database, in bytes. */
    private static final long MIN_DATABASE_BYTES = 4L << 20;

    private static final long MIN_SIMILARITY_BYTES = 1L << 20;

    /** Two cached blocks, one written and one open. */
    private static final int LEAST_BLOCKS = 4;

    /** With less memory than this, blocks stand for a quarter of the usual data. */
    private static final long SMALL_BYTES = 32L << 20;

    /** Minimum of {@link #of}, in bytes: the database, two cached blocks, one written and one open, the table. */
    public static final long MIN_MEMORY_BYTES = MIN_DATABASE_BYTES + BLOCK_MEMORY_BYTES + MIN_SIMILARITY_BYTES;

    public SiloSettings {
        if (segmentBytes < 1
                || blockBytes < 1
                || cachedBlocks < 1
                || writtenBlocks < 0
                || similarityBytes < 1
                || databaseBytes < 1
                || residentBytes < 1) {
            throw new IllegalArgumentException("sizes of a SiLo index are positive");
        }
    }

    /** As below, with all sizes as usual. */
    public static SiloSettings of(long memoryBytes) {
        return of(memoryBytes, IndexParameters.NONE);
    }

    /**
     * Divides memory: blocks as usual if they take no more than half, the rest mostly for the similarity table. Blocks
     * that were chosen have as much as there is beside the least table and database.
     *
     * @param memoryBytes memory for all of the index; at least {@link #MIN_MEMORY_BYTES}
     */
    public static SiloSettings of(long memoryBytes, IndexParameters parameters) {
        if (memoryBytes < MIN_MEMORY_BYTES) {
            throw new IllegalArgumentException(
                    "a SiLo index needs " + MIN_MEMORY_BYTES + " bytes of memory or more, not " + memoryBytes);
        }
        long spare = memoryBytes - MIN_DATABASE_BYTES - MIN_SIMILARITY_BYTES;
        long most = Math.min(spare / LEAST_BLOCKS, MOST_BLOCK_MEMORY_BYTES) * BLOCK_BYTES / BLOCK_MEMORY_BYTES;
        long blockBytes =
                Math.min(most, parameters.get(BLOCK, memoryBytes < SMALL_BYTES ? BLOCK_BYTES / 4 : BLOCK_BYTES));
        long segmentBytes = parameters.get(SEGMENT, SEGMENT_BYTES);
        // The last segment of a block begins before the block is full, and may be half as long again.
        long heldBytes = blockBytes + segmentBytes * 3 / 2;
        long blockMemory = Math.max(1, BLOCK_MEMORY_BYTES * heldBytes / BLOCK_BYTES);
        long wanted = parameters.get(CACHE, CACHED_BLOCKS) + WRITTEN_BLOCKS + 1;
        long forBlocks = parameters.has(CACHE) ? spare : Math.min(memoryBytes / 2, spare);
        long blocks = Math.max(LEAST_BLOCKS, Math.min(wanted, forBlocks / blockMemory));
        int written = blocks < wanted ? 1 : WRITTEN_BLOCKS;
        long rest = memoryBytes - blocks * blockMemory;
        long database = Math.max(MIN_DATABASE_BYTES, Math.min(rest / 4, 64L << 20));
        return new SiloSettings(
                segmentBytes,
                blockBytes,
                (int) blocks - written - 1,
                written,
                rest - database,
                database,
                blocks * blockMemory);
    }

    /**
     * Returns where a segment of the index ends in a segment of ingest, from a chunk on: the rest, if it is hardly
     * longer than one.
     */
    int end(Segment segment, int from) {
        long bytes = 0;
        for (int chunk = from; chunk < segment.count(); chunk++) {
            bytes += dataBytes(segment, chunk);
            if (bytes >= segmentBytes) {
                return dataBytes(segment, chunk + 1, segment.count()) < segmentBytes / 2 ? segment.count() : chunk + 1;
            }
        }
        return segment.count();
    }

    private static long dataBytes(Segment segment, int from, int to) {
        long bytes = 0;
        for (int chunk = from; chunk < to; chunk++) {
            bytes += dataBytes(segment, chunk);
        }
        return bytes;
    }

    private static int dataBytes(Segment segment, int chunk) {
        return segment.isZero(chunk) ? 0 : segment.length(chunk);
    }

    /** Returns whether segments of ingest are joined: this number of bytes is one segment for the index. */
    boolean isJoined(long bytes) {
        return segmentBytes > SEGMENT_BYTES && bytes < segmentBytes - SEGMENT_BYTES / 2;
    }
}
