package org.opendedup.sar.sim.block;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A disk image that is written and then read, both in sequence (SAR paper, §4.4). Its contents are runs: of new blocks,
 * and of blocks that came before, from a random place on. The paper gives only the share of blocks that deduplication
 * removes; the mean length of the runs is a parameter. The same parameters and seed make the same requests. For one
 * thread.
 */
public final class ImageTrace implements BlockTrace {
    /** Time at which the first block is read, in nanoseconds from the start of the trace. */
    public static final long READ_NANOS = 86_400_000_000_000L;

    private static final int REQUEST_BLOCKS = 32;

    private final long[] contents;
    private boolean isReading;
    private int next;

    /**
     * @param blocks of 4 KiB that the image has
     * @param duplicates share of them that deduplication removes, 0 to 1
     * @param meanRunBlocks mean length of a run, in blocks
     */
    public ImageTrace(int blocks, double duplicates, double meanRunBlocks, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        contents = new long[blocks];
        long number = 1;
        for (int at = 0; at < blocks; ) {
            int run = Geometric.draw(random, meanRunBlocks, Math.min(blocks - at, BlockRequest.MAX_BLOCKS));
            boolean isCopy = at >= run && random.nextDouble() < duplicates;
            int from = isCopy ? random.nextInt(at - run + 1) : 0;
            for (int i = 0; i < run; i++) {
                contents[at + i] = isCopy ? contents[from + i] : number++;
            }
            at += run;
        }
    }

    /** Returns the share of the blocks that have the content of an earlier one. */
    public double duplicates() {
        long distinct = Arrays.stream(contents).distinct().count();
        return 1 - (double) distinct / contents.length;
    }

    @Override
    public boolean next(BlockRequest into) {
        if (next == contents.length) {
            if (isReading) {
                return false;
            }
            isReading = true;
            next = 0;
        }
        into.begin(isReading ? READ_NANOS : 0, !isReading, next);
        int end = Math.min(contents.length, next + REQUEST_BLOCKS);
        while (next < end) {
            into.add(contents[next++]);
        }
        return true;
    }
}
