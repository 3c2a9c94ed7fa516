package org.opendedup.sar.sim.block;

import java.util.Arrays;

/**
 * Measures the requests of a trace: those statistics that were published of the FIU traces. Memory grows with the distinct blocks and
 * contents, some 30 bytes each. For one thread.
 */
public final class TraceStatistics {
    /** Contents that more blocks than these have had are of many references (SAR paper §2.4). */
    private static final int MANY = 5;

    private static final double GB = 1e9;
    private static final double BLOCK_KIB = BlockRequest.BLOCK_BYTES / 1024.0;

    private final Side reads = new Side((byte) 1);
    private final Side writes = new Side((byte) 2);

    private final LongIntMap blocks = new LongIntMap();
    /** By number of the block: content it last had, and who touched it. */
    private int[] contentOfBlock = new int[1024];

    private byte[] sidesOfBlock = new byte[1024];

    private final LongIntMap contents = new LongIntMap();
    /** By number of the content: accesses, blocks that have had it, and who touched it. */
    private int[] accesses = new int[1024];

    private int[] holders = new int[1024];
    private byte[] sidesOfContent = new byte[1024];
    private long repeated;

    /** Reads or writes. */
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
     * Of the blocks read, or of those written.
     *
     * @param gigabytes of all
     * @param distinctBlocks share of all that is the first access to its block
     * @param distinctContents share of all that is the first access to its content
     */
    public record Volume(double gigabytes, double distinctBlocks, double distinctContents) {}

    /**
     * Contents that more than five blocks have had.
     *
     * @param share of all contents
     * @param accessShare of all accesses
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
            repeated += accesses[content] > 0 ? 1 : 0;
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
        int number = blocks.get(block);
        if (number == LongIntMap.ABSENT) {
            number = blocks.size();
            blocks.put(block, number);
            if (number == contentOfBlock.length) {
                contentOfBlock = Arrays.copyOf(contentOfBlock, 2 * number);
                sidesOfBlock = Arrays.copyOf(sidesOfBlock, 2 * number);
            }
        }
        return number;
    }

    private int numberOfContent(long content) {
        int number = contents.get(content);
        if (number == LongIntMap.ABSENT) {
            number = contents.size();
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

    /** Of all requests; 0 without any. */
    public double writeShare() {
        return share(writes.requests, requests());
    }

    /** Mean size of a request, in KiB. */
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

    /** Blocks written or read whose content was met before, of all. */
    public double repeatedShare() {
        return share(repeated, reads.total + writes.total);
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

    /** Distinct blocks read or written, in GB. */
    public double footprintGigabytes() {
        return (double) blocks.size() * BlockRequest.BLOCK_BYTES / GB;
    }

    private static double share(long part, long all) {
        return all == 0 ? 0 : (double) part / all;
    }
}
