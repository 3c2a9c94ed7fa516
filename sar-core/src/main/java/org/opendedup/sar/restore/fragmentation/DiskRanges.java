package org.opendedup.sar.restore.fragmentation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Counts the seeks of a disk for the ranges of packs that a reader of a file wants. A reader goes in batches: of each,
 * it reads the ranges in the order of the disk. A range is a request of its own unless it follows the one before it
 * with a small gap. Whether they belong to one container does not matter: containers lie one after another.
 *
 * <p>For one thread. Memory is bounded: at most {@value #MAX_RANGES} ranges are kept, 56 bytes each, so 2 MiB. When
 * there are more, the kept ones are counted, and later ones as if they were of later batches.
 */
public final class DiskRanges {
    static final int MAX_RANGES = 1 << 15;

    private static final Comparator<Range> AS_READ = Comparator.comparingLong(Range::batch)
            .thenComparingLong(Range::pack)
            .thenComparingLong(Range::start);

    private final long maxGapBytes;
    private final List<Range> ranges = new ArrayList<>();
    private Range last = new Range(-1, -1, 0, 0);
    private long requests;
    private long bytes;

    /** @param maxGapBytes largest gap between two ranges of one request, in bytes */
    public DiskRanges(long maxGapBytes) {
        this.maxGapBytes = maxGapBytes;
    }

    /**
     * Adds a range, in bytes of its pack; it and an earlier range of the same bytes in another batch are two reads.
     *
     * @param batch number of the batch that reads it
     */
    public void add(long pack, long start, long end, long batch) {
        if (ranges.size() == MAX_RANGES) {
            count();
        }
        ranges.add(new Range(batch, pack, start, end));
    }

    /** Counts the ranges added since the last call. */
    public void count() {
        ranges.sort(AS_READ);
        for (Range range : ranges) {
            if (isContinuedBy(range)) {
                long end = Math.max(last.end, range.end);
                bytes += end - last.end;
                last = new Range(range.batch, range.pack, range.start, end);
            } else {
                requests++;
                bytes += range.end - range.start;
                last = range;
            }
        }
        ranges.clear();
    }

    private boolean isContinuedBy(Range next) {
        long gap = next.start - last.end;
        // What an earlier batch has read is read again.
        return next.pack == last.pack && gap <= maxGapBytes && (gap >= 0 || next.batch == last.batch);
    }

    /** Returns the number of requests counted. */
    public long requests() {
        return requests;
    }

    /** Returns the bytes of the requests counted, gaps included. */
    public long bytes() {
        return bytes;
    }

    private record Range(long batch, long pack, long start, long end) {}
}
