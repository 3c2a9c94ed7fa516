package org.opendedup.sar.sim.block;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;

/**
 * Measures those statistics of a trace that were published of the FIU traces. Memory grows with the distinct blocks and
 * contents, some 30 bytes each. For one thread.
 */
public final class TraceStatistics {
    /** A content that more than this number of blocks have had counts as one of many references (SAR paper §2.4). */
    private static final int MANY = 5;

    private static final double GB = 1e9;
    private static final double BLOCK_KIB = BlockRequest.BLOCK_BYTES / 1024.0;

    private final Side reads = new Side((byte) 1);
    private final Side writes = new Side((byte) 2);

    private final LongIntHashMap blocks = new LongIntHashMap();
    /** By number of the block: its last content, and whether it was read or written. */
    private int[] contentOfBlock = new int[1024];

    private byte[] sidesOfBlock = new byte[1024];

    private final LongIntHashMap contents = new LongIntHashMap();
    /** By number of the content: accesses, blocks that have had it, and whether it was read or written. */
    private int[] accesses = new int[1024];

    private int[] holders = new int[1024];
    private byte[] sidesOfContent = new byte[1024];

    /** Counters of reads or of writes. */
    private static final class Side {
        final byte flag;
        long requests;
        long total;
        long distinctBlocks;
        long distinctContents;

        Side(byte flag) {
            this.flag = flag;
        }
    }

    /**
     * Statistics of the blocks read, or of those written.
     *
     * @param gigabytes size of all accesses
     * @param distinctBlocks share of the accesses that are the first one to their block
     * @param distinctContents share of the accesses that are the first one to their content
     */
    public record Volume(double gigabytes, double distinctBlocks, double distinctContents) {}

    /**
     * Contents that more than five blocks have had.
     *
     * @param share share of all contents
     * @param accessShare share of all accesses
     */
    public record ManyReferences(double share, double accessShare) {}

    /** Adds a request. */
    public void add(BlockRequest request) {
        Side side = request.isWrite() ? writes : reads;
        side.requests++;
        side.total += request.count();
        for (int i = 0; i < request.count(); i++) {
            int block = numberOfBlock(request.firstBlock() + i);
            int content = numberOfContent(request.content(i));
            side.distinctBlocks += isFirst(sidesOfBlock, block, side.flag) ? 1 : 0;
            side.distinctContents += isFirst(sidesOfContent, content, side.flag) ? 1 : 0;
            accesses[content]++;
            if (contentOfBlock[block] != content + 1) {
                contentOfBlock[block] = content + 1;
                holders[content]++;
            }
        }
    }

    private static boolean isFirst(byte[] sides, int number, byte flag) {
        boolean first = (sides[number] & flag) == 0;
        sides[number] |= flag;
        return first;
    }

    private int numberOfBlock(long block) {
        int number = blocks.getOrDefault(block, blocks.size());
        if (number == blocks.size()) {
            blocks.put(block, number);
            if (number == contentOfBlock.length) {
                contentOfBlock = Arrays.copyOf(contentOfBlock, 2 * number);
                sidesOfBlock = Arrays.copyOf(sidesOfBlock, 2 * number);
            }
        }
        return number;
    }

    private int numberOfContent(long content) {
        int number = contents.getOrDefault(content, contents.size());
        if (number == contents.size()) {
            contents.put(content, number);
            if (number == accesses.length) {
                accesses = Arrays.copyOf(accesses, 2 * number);
                holders = Arrays.copyOf(holders, 2 * number);
                sidesOfContent = Arrays.copyOf(sidesOfContent, 2 * number);
            }
        }
        return number;
    }

    public long requests() {
        return reads.requests + writes.requests;
    }

    /** Returns the share of requests that write; 0 without requests. */
    public double writeShare() {
        return share(writes.requests, requests());
    }

    /** Returns the mean size of a request, in KiB. */
    public double meanKibibytes() {
        return share(reads.total + writes.total, requests()) * BLOCK_KIB;
    }

    public Volume read() {
        return volume(reads);
    }

    public Volume written() {
        return volume(writes);
    }

    private static Volume volume(Side side) {
        return new Volume(
                side.total * BlockRequest.BLOCK_BYTES / GB,
                share(side.distinctBlocks, side.total),
                share(side.distinctContents, side.total));
    }

    public ManyReferences manyReferences() {
        long many = 0;
        long accessed = 0;
        for (int content = 0; content < contents.size(); content++) {
            if (holders[content] > MANY) {
                many++;
                accessed += accesses[content];
            }
        }
        return new ManyReferences(share(many, contents.size()), share(accessed, reads.total + writes.total));
    }

    private static double share(long part, long all) {
        return all == 0 ? 0 : (double) part / all;
    }
}
