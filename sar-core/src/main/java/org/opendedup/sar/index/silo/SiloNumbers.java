package org.opendedup.sar.index.silo;

/**
 * What a SiLo index did since it was opened, and what it takes now.
 *
 * @param segments segments looked up
 * @param similar of these, segments whose representative led to a block
 * @param blockReads blocks read from the disk; at most one a segment
 * @param blocks blocks of the index, the open one included
 * @param lostBlocks of these, blocks that are damaged or missing
 * @param representatives entries of the similarity table
 * @param similarityBytes memory of the similarity table, in bytes
 * @param blockBytes memory of the blocks, in bytes
 */
public record SiloNumbers(
        long segments,
        long similar,
        long blockReads,
        long blocks,
        long lostBlocks,
        long representatives,
        long similarityBytes,
        long blockBytes) {}
