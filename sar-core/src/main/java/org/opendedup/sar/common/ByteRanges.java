package org.opendedup.sar.common;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A set of bytes of one file, as ranges that neither overlap nor touch. Not thread-safe. */
public final class ByteRanges {
    /** Bytes {@code from} to {@code to} (exclusive). */
    public record Range(long from, long to) {
        public long bytes() {
            return to - from;
        }
    }

    /** End offset of each range, by its start offset. */
    private final TreeMap<Long, Long> ends = new TreeMap<>();

    private long bytes;

    public boolean isEmpty() {
        return ends.isEmpty();
    }

    /** Returns the number of ranges. */
    public int count() {
        return ends.size();
    }

    /** Returns the number of bytes in the set. */
    public long bytes() {
        return bytes;
    }

    /** Adds bytes {@code from} to {@code to} (exclusive). */
    public void add(long from, long to) {
        if (from >= to) {
            return;
        }
        long start = from;
        long end = to;
        Map.Entry<Long, Long> near = ends.floorEntry(to);
        while (near != null && near.getValue() >= from) {
            start = Math.min(start, near.getKey());
            end = Math.max(end, near.getValue());
            bytes -= near.getValue() - near.getKey();
            ends.remove(near.getKey());
            near = ends.floorEntry(to);
        }
        ends.put(start, end);
        bytes += end - start;
    }

    public void addAll(List<Range> ranges) {
        ranges.forEach(range -> add(range.from(), range.to()));
    }

    /** Removes bytes {@code from} to {@code to} (exclusive); returns whether any of them was in the set. */
    public boolean remove(long from, long to) {
        boolean any = false;
        Map.Entry<Long, Long> last = from < to ? ends.lowerEntry(to) : null;
        while (last != null && last.getValue() > from) {
            any = true;
            long start = last.getKey();
            long end = last.getValue();
            ends.remove(start);
            bytes -= end - start;
            put(start, Math.min(end, from));
            put(Math.max(start, to), end);
            last = ends.lowerEntry(Math.min(to, start));
        }
        return any;
    }

    private void put(long start, long end) {
        if (start < end) {
            ends.put(start, end);
            bytes += end - start;
        }
    }

    public void clear() {
        ends.clear();
        bytes = 0;
    }

    /** Returns those bytes of the set that are within a range, in ascending order. */
    public List<Range> within(long from, long to) {
        List<Range> found = new ArrayList<>();
        Long floor = ends.floorKey(from);
        for (Map.Entry<Long, Long> range :
                ends.tailMap(floor == null ? from : floor, true).entrySet()) {
            if (range.getKey() >= to) {
                break;
            }
            long start = Math.max(from, range.getKey());
            long end = Math.min(to, range.getValue());
            if (start < end) {
                found.add(new Range(start, end));
            }
        }
        return found;
    }

    /** Returns the first byte at or after {@code from} that is in the set; {@link Long#MAX_VALUE} if there is none. */
    public long nextPresent(long from) {
        Map.Entry<Long, Long> floor = ends.floorEntry(from);
        if (floor != null && floor.getValue() > from) {
            return from;
        }
        Long next = ends.higherKey(from);
        return next == null ? Long.MAX_VALUE : next;
    }

    /** Returns the first byte at or after {@code from} that is not in the set. */
    public long nextAbsent(long from) {
        Map.Entry<Long, Long> floor = ends.floorEntry(from);
        return floor != null && floor.getValue() > from ? floor.getValue() : from;
    }

    /** Returns the ranges in ascending order, as a copy. */
    public List<Range> ranges() {
        List<Range> ranges = new ArrayList<>(ends.size());
        ends.forEach((from, to) -> ranges.add(new Range(from, to)));
        return ranges;
    }
}
