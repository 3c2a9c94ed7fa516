package org.opendedup.sar.index.silo;

/**
 * Sizes of a SiLo index (SiLo, section 4.2).
 *
 * @param blockBytes data that a block stands for, in bytes; 256 MiB in the paper
 * @param cachedBlocks blocks in the read cache; 8 to 16 in the paper
 * @param writtenBlocks blocks that stay in memory after they were written (write buffer)
 * @param similarityBytes maximum memory of the similarity table, in bytes
 * @param databaseBytes native memory of the database of frame tables, in bytes
 */
public record SiloSettings(
        long blockBytes, int cachedBlocks, int writtenBlocks, long similarityBytes, long databaseBytes) {
    /** Usual data of a block, in bytes. */
    public static final long BLOCK_BYTES = 256L << 20;

    /** Usual number of blocks in the read cache: the one of the paper's comparison (section 4.3). */
    public static final int CACHED_BLOCKS = 10;

    public static final int WRITTEN_BLOCKS = 2;

    /** Memory of a block of {@link #BLOCK_BYTES} with chunks of 8 KiB, in bytes. */
    static final long BLOCK_MEMORY_BYTES = 7L << 18;

    /** Smallest memory of the database, in bytes. */
    private static final long MIN_DATABASE_BYTES = 4L << 20;

    private static final long MIN_SIMILARITY_BYTES = 1L << 20;

    /** With less memory than this, blocks stand for a quarter of the usual data. */
    private static final long SMALL_BYTES = 32L << 20;

    /** Minimum of {@link #of}, in bytes: the database, two cached blocks, one written and one open, the table. */
    public static final long MIN_MEMORY_BYTES = MIN_DATABASE_BYTES + BLOCK_MEMORY_BYTES + MIN_SIMILARITY_BYTES;

    public SiloSettings {
        if (blockBytes < 1 || cachedBlocks < 1 || writtenBlocks < 0 || similarityBytes < 1 || databaseBytes < 1) {
            throw new IllegalArgumentException("sizes of a SiLo index are positive");
        }
    }

    /**
     * Divides memory: blocks as usual if they take no more than half, the rest mostly for the similarity table.
     *
     * @param memoryBytes memory for all of the index; at least {@link #MIN_MEMORY_BYTES}
     */
    public static SiloSettings of(long memoryBytes) {
        if (memoryBytes < MIN_MEMORY_BYTES) {
            throw new IllegalArgumentException(
                    "a SiLo index needs " + MIN_MEMORY_BYTES + " bytes of memory or more, not " + memoryBytes);
        }
        int divisor = memoryBytes < SMALL_BYTES ? 4 : 1;
        long blockMemory = BLOCK_MEMORY_BYTES / divisor;
        long usual = CACHED_BLOCKS + WRITTEN_BLOCKS + 1;
        long spare = memoryBytes - MIN_DATABASE_BYTES - MIN_SIMILARITY_BYTES;
        long blocks = Math.max(4, Math.min(usual, Math.min(memoryBytes / 2, spare) / blockMemory));
        int written = blocks < usual ? 1 : WRITTEN_BLOCKS;
        long rest = memoryBytes - blocks * blockMemory;
        long database = Math.max(MIN_DATABASE_BYTES, Math.min(rest / 4, 64L << 20));
        return new SiloSettings(BLOCK_BYTES / divisor, (int) blocks - written - 1, written, rest - database, database);
    }
}
