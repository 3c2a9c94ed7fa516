package org.opendedup.sar.sim.block;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Generates contents, and determines how often each is shared. New content is made in pieces of a few blocks. A power
 * law draws the number of places that will finally have the piece; one less than this number of <em>copies</em> are
 * stored in a pool, from which {@link #copy} later draws at random. For one thread.
 */
final class ContentUniverse {
    /** Exponent for the mail trace: P(count = r) is about r^-2.42, up to 1000. */
    private static final double COUNT_POWER = 2.42;

    private static final int MOST_COUNT = 1000;
    private static final int PIECE_BITS = 8;
    private static final int MOST_PIECE_BLOCKS = (1 << PIECE_BITS) - 1;
    private static final int MOST_COPIES = 1 << 22;

    private final SplittableRandom random;
    private final double meanPieceBlocks;
    private final double[] cumulative = new double[MOST_COUNT];
    private final double meanCount;
    private long nextNumber = 1;
    /** Pool of copies: the first content of a piece and its number of blocks. */
    private long[] copies = new long[1024];

    private int copyCount;

    ContentUniverse(SplittableRandom random, double meanPieceBlocks) {
        this.random = random;
        this.meanPieceBlocks = meanPieceBlocks;
        double sum = 0;
        double weighted = 0;
        for (int count = 1; count <= MOST_COUNT; count++) {
            double weight = StrictMath.pow(count, -COUNT_POWER);
            sum += weight;
            weighted += count * weight;
            cumulative[count - 1] = sum;
        }
        for (int i = 0; i < MOST_COUNT; i++) {
            cumulative[i] /= sum;
        }
        meanCount = weighted / sum;
    }

    /** Returns the mean number of places that have a content. */
    double meanCount() {
        return meanCount;
    }

    /** Fills places with new contents, up to a piece; returns the number of places. */
    int fresh(long[] contents, int from, int most) {
        int blocks = Math.min(most, pieceBlocks());
        long first = nextNumber;
        nextNumber += blocks;
        fill(contents, from, first, blocks);
        int at = Arrays.binarySearch(cumulative, random.nextDouble());
        int shares = at < 0 ? -at - 1 : at;
        for (int i = 0; i < shares && copyCount < MOST_COPIES; i++) {
            layUp(first << PIECE_BITS | blocks);
        }
        return blocks;
    }

    private int pieceBlocks() {
        return Geometric.draw(random, meanPieceBlocks, MOST_PIECE_BLOCKS);
    }

    private void layUp(long piece) {
        if (copyCount == copies.length) {
            copies = Arrays.copyOf(copies, 2 * copyCount);
        }
        copies[copyCount++] = piece;
    }

    /**
     * Fills places with a piece that exists elsewhere, up to its length; returns the number of places, 0 if the pool is
     * empty.
     */
    int copy(long[] contents, int from, int most) {
        if (copyCount == 0) {
            return 0;
        }
        int at = random.nextInt(copyCount);
        long piece = copies[at];
        copies[at] = copies[--copyCount];
        int blocks = Math.min(most, (int) piece & MOST_PIECE_BLOCKS);
        fill(contents, from, piece >>> PIECE_BITS, blocks);
        return blocks;
    }

    private static void fill(long[] contents, int from, long first, int blocks) {
        for (int i = 0; i < blocks; i++) {
            long content = Mixing.mix(first + i);
            contents[from + i] = content == BlockRequest.ZERO_CONTENT ? 1 : content;
        }
    }
}
