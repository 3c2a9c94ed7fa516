package org.opendedup.sar.restore.fragmentation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Counts the disk requests for the ranges of packs that a reader of a file wants. Two ranges are one request if they
 * lie in the same pack, the gap between them is not too large, and the reader wants both within one window of the file.
 * Whether they belong to one container does not matter: containers lie one after another.
 *
 * <p>For one thread. Memory is bounded: at most {@value #MAX_RANGES} ranges are kept, 64 bytes each, so 2 MiB. When
 * there are more, the kept ones are counted, and a request that later ones continue is counted a second time.
 */
public final class DiskRanges {
    static final int MAX_RANGES = 1 << 15;

    private static final Comparator<Range> BY_PLACE = Comparator.comparingLong(Range::pack)
            .thenComparingLong(Range::start)
            .thenComparingLong(Range::wantedFrom);

    private final long maxGapBytes;
    private final long windowBytes;
    private final List<Range> ranges = new ArrayList<>();
    private long requests;
    private long bytes;

    /**
     * @param maxGapBytes largest gap between two ranges of one request, in bytes
     * @param windowBytes largest distance in the file, in bytes, at which two ranges are wanted by one request
     */
    public DiskRanges(long maxGapBytes, long windowBytes) {
        this.maxGapBytes = maxGapBytes;
        this.windowBytes = windowBytes;
    }

    /**
     * Adds a range, in bytes of its pack; it and an earlier range of the same bytes are two reads.
     *
     * @param wantedFrom offset in the file at which the range is first wanted
     * @param wantedTo offset in the file up to which it is wanted again and again
     */
    public void add(long pack, long start, long end, long wantedFrom, long wantedTo) {
        if (ranges.size() == MAX_RANGES) {
            count();
        }
        ranges.add(new Range(pack, start, end, wantedFrom, wantedTo));
    }

    /** Counts the ranges added since the last call. No range that is added later is joined to them. */
    public void count() {
        ranges.sort(BY_PLACE);
        // Of each request that the next range may continue: its last range. Several if the same place is read again.
        List<Range> open = new ArrayList<>();
        for (Range range : ranges) {
            open.removeIf(last -> last.pack != range.pack || range.start - last.end > maxGapBytes);
            int continued = open.size() - 1;
            while (continued >= 0 && !open.get(continued).isWantedWith(range, windowBytes)) {
                continued--;
            }
            if (continued < 0) {
                requests++;
                bytes += range.end - range.start;
                open.add(range);
            } else {
                long end = Math.max(open.get(continued).end, range.end);
                bytes += end - open.get(continued).end;
                open.set(continued, range.until(end));
            }
        }
        ranges.clear();
    }

    /** Returns the number of requests counted. */
    public long requests() {
        return requests;
    }

    /** Returns the bytes of the requests counted, gaps included. */
    public long bytes() {
        return bytes;
    }

    private record Range(long pack, long start, long end, long wantedFrom, long wantedTo) {
        boolean isWantedWith(Range other, long windowBytes) {
            return wantedFrom - other.wantedTo <= windowBytes && other.wantedFrom - wantedTo <= windowBytes;
        }

        Range until(long otherEnd) {
            return new Range(pack, start, otherEnd, wantedFrom, wantedTo);
        }
    }
}
