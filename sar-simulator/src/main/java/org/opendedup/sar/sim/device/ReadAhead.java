package org.opendedup.sar.sim.device;

import java.util.ArrayDeque;

/**
 * The read-ahead memory of a disk: its reads, and the bytes that passed under its head after the last one. It has a few
 * segments; the least recently used one is replaced. The head continues to read until the limit, or until it is needed
 * elsewhere. For one thread.
 */
final class ReadAhead {
    /** Not in memory: must be read from the disk. */
    static final long MISS = -1;

    private final DiskGeometry geometry;
    private final long readAheadBytes;
    private final int segments;
    /** In the order of use; the last one is the most recent. */
    private final ArrayDeque<Segment> remembered = new ArrayDeque<>();

    private static final class Segment {
        long start;
        long end;
        /** The head reads ahead up to here; equals the end after the head was moved away. */
        long limit;
        /** Time at which the end was reached, in nanoseconds. */
        long endNanos;
    }

    ReadAhead(DiskGeometry geometry, long readAheadBytes, int segments) {
        this.geometry = geometry;
        this.readAheadBytes = readAheadBytes;
        this.segments = segments;
    }

    /**
     * Returns the time at which all bytes of a read are in memory, or {@link #MISS} if the disk must seek. A read that
     * continues where the head is reading extends the limit.
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

    /** Moves the head away: the read-ahead ends. */
    void stop(long nowNanos) {
        Segment last = remembered.peekLast();
        if (last != null && last.end < last.limit) {
            last.end = filled(last, nowNanos);
            last.limit = last.end;
        }
    }

    /** Notes that the disk has finished this read at that time, and reads ahead. */
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

    /** Forgets ranges that were overwritten. */
    void forget(Transfer written) {
        remembered.removeIf(segment -> written.offset() < segment.limit && written.end() > segment.start);
    }
}
