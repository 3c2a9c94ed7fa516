package org.opendedup.sar.sim.device;

import java.util.ArrayDeque;

/**
 * What a disk remembers of its reads, and of what passed under its head after the last one. A few segments, the longest unused
 * gives way. The head reads on until the limit, or until it is wanted elsewhere. For one thread.
 */
final class ReadAhead {
    /** Not in memory: must be read. */
    static final long MISS = -1;

    private final DiskGeometry geometry;
    private final long readAheadBytes;
    private final int segments;
    /** The one read last is last. */
    private final ArrayDeque<Segment> remembered = new ArrayDeque<>();

    private static final class Segment {
        long start;
        long end;
        /** The head reads on up to here; at the end once it was called away. */
        long limit;
        /** When the end was reached. */
        long endNanos;
    }

    ReadAhead(DiskGeometry geometry, long readAheadBytes, int segments) {
        this.geometry = geometry;
        this.readAheadBytes = readAheadBytes;
        this.segments = segments;
    }

    /**
     * When all bytes of a read are in memory, {@link #MISS} if the disk must go there. A read that goes on where the head is
     * reading lets it read on further.
     */
    long availableNanos(Transfer read, long nowNanos) {
        for (Segment segment : remembered) {
            long filled = filled(segment, nowNanos);
            if (read.offset() < segment.start || read.offset() > filled) {
                continue;
            }
            if (filled < segment.limit) {
                segment.limit = Math.max(segment.limit, read.end() + readAheadBytes);
            }
            if (read.end() <= segment.limit) {
                long missing = Math.max(0, read.end() - segment.end);
                return segment.endNanos + geometry.transferNanos(segment.end, missing);
            }
        }
        return MISS;
    }

    private long filled(Segment segment, long nowNanos) {
        return Math.min(segment.limit, segment.end + geometry.bytesIn(segment.end, nowNanos - segment.endNanos));
    }

    /** The head is called away: nothing more is read ahead. */
    void stop(long nowNanos) {
        Segment last = remembered.peekLast();
        if (last != null && last.end < last.limit) {
            last.end = filled(last, nowNanos);
            last.limit = last.end;
        }
    }

    /** The disk has read this by then, and reads on. */
    void readOn(Transfer read, long doneNanos, long capacityBytes) {
        if (segments == 0) {
            return;
        }
        Segment segment = remembered.size() < segments ? new Segment() : remembered.removeFirst();
        segment.start = read.offset();
        segment.end = read.end();
        segment.limit = Math.min(capacityBytes, read.end() + readAheadBytes);
        segment.endNanos = doneNanos;
        remembered.addLast(segment);
    }

    /** What was written is not what was read. */
    void forget(Transfer written) {
        remembered.removeIf(segment -> written.offset() < segment.limit && written.end() > segment.start);
    }
}
