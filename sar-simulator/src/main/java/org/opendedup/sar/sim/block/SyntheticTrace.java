package org.opendedup.sar.sim.block;

import java.util.SplittableRandom;

/**
 * Makes a trace that is <em>like</em> one of the FIU traces, from its published statistics: a {@link TraceProfile}. It
 * is synthetic and must never be shown under the trace's name alone. The same profile and seed make the same requests.
 *
 * <p>Two properties are separate: repeated access to a block, and sharing of a content by blocks. Requests access
 * <em>extents</em>, each read or written as a whole. Their popularity is a Zipf law, and their number is chosen to give
 * the published number of distinct blocks a week. The contents of the extents are drawn from a {@link ContentUniverse}.
 * A write has new content as often as the profile says, so that deduplication removes the published share of blocks;
 * otherwise it repeats the content of the block, or copies content of another place. For one thread.
 */
public final class SyntheticTrace implements BlockTrace {
    private static final long DAY_NANOS = 86_400_000_000_000L;
    private static final int DAYS_PER_WEEK = 7;
    private static final double BLOCK_KIB = BlockRequest.BLOCK_BYTES / 1024.0;
    /** Exponent of the popularity of extents; not published. */
    private static final double SKEW = 0.6;
    /** Share of the written extents that are also read; not published. */
    private static final double READ_AND_WRITTEN = 0.5;
    /** Number of neighbouring extents that lie next to each other. */
    private static final int GROUP = 64;

    private final TraceProfile profile;
    private final long endNanos;
    private final SplittableRandom random;
    private final ContentUniverse universe;
    private final Arrivals arrivals;
    private final ZipfRanks readRanks;
    private final ZipfRanks writeRanks;
    /** Extents by rank. */
    private final int[] readExtents;

    private final int[] writtenExtents;
    /** First block of each extent. */
    private final long[] starts;
    /** Start of each extent's contents, and the end of the last. */
    private final int[] firsts;

    private final long[] contents;
    /** Share of the writes of known content that repeat the content of the block. */
    private final double sameShare;

    /** @param days length of the trace, in days */
    public SyntheticTrace(TraceProfile profile, int days, long seed) {
        this.profile = profile;
        endNanos = days * DAY_NANOS;
        random = new SplittableRandom(seed);
        universe = new ContentUniverse(random.split(), profile.fitted().pieceBlocks());
        arrivals = new Arrivals(random.split(), profile.requestsPerDay());
        long weekly = (long) profile.requestsPerDay() * DAYS_PER_WEEK;
        long writes = Math.round(weekly * profile.writeShare());
        readRanks = ZipfRanks.forDistinct(weekly - writes, profile.distinctReadBlocks(), SKEW);
        writeRanks = ZipfRanks.forDistinct(writes, profile.distinctWrittenBlocks(), SKEW);
        readExtents = shuffled(readRanks.ranks());
        writtenExtents = chooseWritten();
        int extents = readRanks.ranks() + writeRanks.ranks();
        starts = new long[extents];
        firsts = new int[extents + 1];
        layOut();
        contents = new long[firsts[extents]];
        fillAll();
        double known = profile.fitted().knownWrites();
        sameShare = Math.max(0, 1 - (1 - known) * (universe.meanCount() - 1) / known);
    }

    private int[] shuffled(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i;
        }
        return numbers;
    }

    /** Returns the written extents: some are also read, the others are separate and have the numbers after those. */
    private int[] chooseWritten() {
        int[] chosen = new int[writeRanks.ranks()];
        for (int i = 0; i < chosen.length; i++) {
            chosen[i] = random.nextDouble() < READ_AND_WRITTEN
                    ? readExtents[random.nextInt(readExtents.length)]
                    : readRanks.ranks() + i;
        }
        return chosen;
    }

    private void layOut() {
        double meanBlocks = profile.meanKibibytes() / BLOCK_KIB;
        long fileSystemBlocks = profile.fileSystemBytes() / BlockRequest.BLOCK_BYTES;
        long next = 0;
        for (int extent = 0; extent < starts.length; extent++) {
            if (extent % GROUP == 0) {
                next = random.nextLong(fileSystemBlocks - (long) GROUP * BlockRequest.MAX_BLOCKS);
            }
            int blocks = Geometric.draw(random, meanBlocks, BlockRequest.MAX_BLOCKS);
            starts[extent] = next;
            firsts[extent + 1] = firsts[extent] + blocks;
            next += blocks;
        }
    }

    private void fillAll() {
        for (int at = 0; at < contents.length; ) {
            int most = contents.length - at;
            int copied = random.nextDouble() < profile.fitted().initialCopies() ? universe.copy(contents, at, most) : 0;
            at += copied > 0 ? copied : universe.fresh(contents, at, most);
        }
    }

    @Override
    public boolean next(BlockRequest into) {
        long time = arrivals.next();
        if (time >= endNanos) {
            return false;
        }
        boolean isWrite = random.nextDouble() < profile.writeShare();
        int extent = isWrite ? writtenExtents[writeRanks.draw(random)] : readExtents[readRanks.draw(random)];
        if (isWrite) {
            write(extent);
        }
        into.begin(time, isWrite, starts[extent]);
        for (int i = firsts[extent]; i < firsts[extent + 1]; i++) {
            into.add(contents[i]);
        }
        return true;
    }

    /** Changes the contents of an extent, piece by piece. */
    private void write(int extent) {
        int end = firsts[extent + 1];
        for (int at = firsts[extent]; at < end; ) {
            int most = end - at;
            if (random.nextDouble() >= profile.fitted().knownWrites()) {
                at += universe.fresh(contents, at, most);
            } else if (random.nextDouble() < sameShare) {
                at += Geometric.draw(random, profile.fitted().pieceBlocks(), most);
            } else {
                at += Math.max(1, universe.copy(contents, at, most));
            }
        }
    }
}
