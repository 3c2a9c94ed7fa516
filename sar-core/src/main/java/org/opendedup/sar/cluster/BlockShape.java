package org.opendedup.sar.cluster;

import org.opendedup.sar.common.ChunkHash;

/**
 * Where a stream of chunks is divided into blocks, and to which shard a block belongs. A block ends behind a chunk
 * whose fingerprint says so, so that blocks are the same again behind a place where bytes were inserted. That is the
 * difference to SiLo, whose blocks have a fixed number of bytes. What is here decides where a block is looked for: a
 * cluster whose blocks were made by other rules finds them, but stores the same content a second time.
 *
 * @param leastBytes bytes that a block has at least, except the last one of a stream
 * @param every number of chunks of which one, on average, can end a block; a power of two
 * @param mostBytes bytes that a block has at most, if no chunk is longer
 */
public record BlockShape(int leastBytes, int every, int mostBytes) {
    /** Number of virtual shards; a shard is a number from 0 on. */
    public static final int SHARDS = 1 << 16;

    /** With chunks of 8 KiB: blocks of 512 KiB to 4 MiB, 1.7 MiB on average; adr/0142 has the measurements. */
    public static final BlockShape USUAL = new BlockShape(512 << 10, 128, 4 << 20);

    public BlockShape {
        if (Integer.bitCount(every) != 1 || leastBytes < 1 || mostBytes < leastBytes) {
            throw new IllegalArgumentException(
                    leastBytes + ", " + every + ", " + mostBytes + " is no shape of a block");
        }
    }

    /**
     * Returns whether a block ends behind a chunk.
     *
     * @param bytes length of the block with the chunk, in bytes
     * @param fingerprint 64 evenly distributed bits of the chunk's fingerprint
     */
    public boolean endsBehind(long bytes, long fingerprint) {
        return bytes >= leastBytes && (fingerprint & every - 1) == 0;
    }

    /**
     * Returns the shard of a block.
     *
     * @param representative the lowest fingerprint of its chunks, compared without a sign
     */
    public static int shardOf(long representative) {
        // The lowest of many fingerprints begins with zeros.
        return ChunkHash.place(ChunkHash.of(representative), SHARDS);
    }
}
