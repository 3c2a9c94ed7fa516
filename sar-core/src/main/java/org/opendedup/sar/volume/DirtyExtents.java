package org.opendedup.sar.volume;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.ingest.ByteRun;

/**
 * Bytes of one file that were written and are not stored yet: extents that do not overlap, by offset. Not thread-safe: the
 * file's {@link Node} guards it.
 */
final class DirtyExtents {
    /** Bytes {@code offset} to {@code offset + length} of the file, in {@code data[0 .. length)}. */
    private static final class Extent {
        final long offset;
        /** Whether its bytes replace stored ones, and so take no more of the capacity. */
        final boolean replaces;

        byte[] data;
        int length;

        Extent(long offset, boolean replaces, byte[] data) {
            this.offset = offset;
            this.replaces = replaces;
            this.data = data;
        }

        /** What so many of its bytes have taken of the capacity. */
        long taken(long bytes) {
            return replaces ? 0 : bytes;
        }

        long end() {
            return offset + length;
        }
    }

    private final DirtyBudget budget;
    private final Capacity capacity;
    private final TreeMap<Long, Extent> extents = new TreeMap<>();
    private long bytes;
    /** What these bytes have taken of the capacity. */
    private long taken;

    DirtyExtents(DirtyBudget budget, Capacity capacity) {
        this.budget = budget;
        this.capacity = capacity;
    }

    boolean isEmpty() {
        return extents.isEmpty();
    }

    /** Bytes written and not stored. */
    long bytes() {
        return bytes;
    }

    /** What these bytes have taken of the capacity: all of them, but for those known to replace stored ones. */
    long takenBytes() {
        return taken;
    }

    /** What {@link #write} of so many bytes needs of the capacity: those that are neither here nor stored. */
    long wanted(long offset, int length, StoredRanges stored) {
        long wanted = 0;
        long end = offset + length;
        for (long at = offset; at < end; ) {
            long absent = Math.min(end, nextAbsent(at));
            long gapEnd = absent < end ? Math.min(end, nextPresent(absent)) : end;
            for (long from = absent; from < gapEnd; ) {
                long to = Math.min(gapEnd, stored.change(from));
                wanted += stored.has(from) ? 0 : to - from;
                from = to;
            }
            at = gapEnd;
        }
        return wanted;
    }

    /**
     * Takes all of {@code source}'s remaining bytes; the newest write wins. The caller has taken what is {@link #wanted} of the
     * capacity, with the same {@code stored}.
     */
    void write(long offset, ByteBuffer source, StoredRanges stored) {
        long at = offset;
        while (source.hasRemaining()) {
            Map.Entry<Long, Extent> floor = extents.floorEntry(at);
            Extent before = floor == null ? null : floor.getValue();
            if (before != null && at < before.end()) {
                int length = (int) Math.min(source.remaining(), before.end() - at);
                source.get(before.data, (int) (at - before.offset), length);
                at += length;
            } else {
                at += extend(before, at, source, stored);
            }
        }
    }

    /** Writes into the gap at {@code at}: behind {@code before} if that ends there and has room, else as a new extent. */
    private int extend(@Nullable Extent before, long at, ByteBuffer source, StoredRanges stored) {
        Long next = extents.higherKey(at);
        boolean replaces = stored.has(at);
        long end = Math.min(next == null ? Long.MAX_VALUE : next, stored.change(at));
        int room = (int) Math.min(source.remaining(), end - at);
        Extent extent;
        if (before != null
                && before.end() == at
                && before.replaces == replaces
                && before.length < DirtyBudget.BUFFER_BYTES) {
            extent = before;
            room = Math.min(room, DirtyBudget.BUFFER_BYTES - extent.length);
            ensureCapacity(extent, extent.length + room);
        } else {
            room = Math.min(room, DirtyBudget.BUFFER_BYTES);
            extent = new Extent(at, replaces, budget.buffer(room));
            extents.put(at, extent);
        }
        source.get(extent.data, extent.length, room);
        extent.length += room;
        bytes += room;
        taken += extent.taken(room);
        return room;
    }

    private void ensureCapacity(Extent extent, int capacity) {
        if (extent.data.length >= capacity) {
            return;
        }
        byte[] larger = budget.buffer(capacity);
        System.arraycopy(extent.data, 0, larger, 0, extent.length);
        budget.release(extent.data);
        extent.data = larger;
    }

    /** Copies what lies in {@code [offset, offset + length)} into {@code target}, whose position stands for {@code offset}. */
    void overlay(long offset, int length, ByteBuffer target) {
        long end = offset + length;
        for (Extent extent : endingBehind(offset).headMap(end, false).values()) {
            long from = Math.max(offset, extent.offset);
            long to = Math.min(end, extent.end());
            target.put(target.position() + (int) (from - offset), extent.data, (int) (from - extent.offset), (int)
                    (to - from));
        }
    }

    /** Whether every byte of the range is here. */
    boolean covers(long offset, int length) {
        long at = offset;
        while (at < offset + length) {
            Map.Entry<Long, Extent> floor = extents.floorEntry(at);
            if (floor == null || floor.getValue().end() <= at) {
                return false;
            }
            at = floor.getValue().end();
        }
        return true;
    }

    /** Whether any byte of the range is here. */
    boolean intersects(long offset, int length) {
        Map.Entry<Long, Extent> last = extents.lowerEntry(offset + length);
        return last != null && last.getValue().end() > offset;
    }

    /** Drops everything from {@code size} on, and gives back what it took of the capacity. */
    void truncate(long size) {
        long before = taken;
        Map.Entry<Long, Extent> floor = extents.lowerEntry(size);
        if (floor != null && floor.getValue().end() > size) {
            Extent extent = floor.getValue();
            bytes -= extent.end() - size;
            taken -= extent.taken(extent.end() - size);
            extent.length = (int) (size - extent.offset);
        }
        Map<Long, Extent> beyond = extents.tailMap(size, true);
        for (Extent extent : beyond.values()) {
            bytes -= extent.length;
            taken -= extent.taken(extent.length);
            budget.release(extent.data);
        }
        beyond.clear();
        capacity.giveBack(before - taken);
    }

    /** Drops the bytes from {@code from} to {@code to} (exclusive), and gives back what they took of the capacity. */
    void remove(long from, long to) {
        long before = taken;
        for (Extent extent : overlapping(from, to)) {
            extents.remove(extent.offset);
            bytes -= extent.length;
            taken -= extent.taken(extent.length);
            if (extent.end() > to) {
                addTail(extent, to);
            }
            if (extent.offset < from) {
                extent.length = (int) (from - extent.offset);
                bytes += extent.length;
                taken += extent.taken(extent.length);
                extents.put(extent.offset, extent);
            } else {
                budget.release(extent.data);
            }
        }
        capacity.giveBack(before - taken);
    }

    /** Adds a copy of what an extent has from {@code offset} on. */
    private void addTail(Extent extent, long offset) {
        int skip = (int) (offset - extent.offset);
        int length = extent.length - skip;
        Extent copy = new Extent(offset, extent.replaces, budget.buffer(length));
        System.arraycopy(extent.data, skip, copy.data, 0, length);
        copy.length = length;
        bytes += length;
        taken += copy.taken(length);
        extents.put(offset, copy);
    }

    /** Makes those of the bytes from {@code from} to {@code to} (exclusive) that are here zero. */
    void zero(long from, long to) {
        for (Extent extent : overlapping(from, to)) {
            int first = (int) Math.max(0, from - extent.offset);
            int end = (int) Math.min(extent.length, to - extent.offset);
            Arrays.fill(extent.data, first, end, (byte) 0);
        }
    }

    /** Extents with a byte in the range; a copy, as callers change what is here. */
    private List<Extent> overlapping(long from, long to) {
        return from < to ? List.copyOf(endingBehind(from).headMap(to, false).values()) : List.of();
    }

    /**
     * The extents that end behind {@code offset}: also the one that begins before it and has its byte. Who goes over extents
     * must not look for their beginnings alone, since a write may have joined two.
     */
    private NavigableMap<Long, Extent> endingBehind(long offset) {
        Map.Entry<Long, Extent> floor = extents.floorEntry(offset);
        boolean holds = floor != null && floor.getValue().end() > offset;
        return extents.tailMap(holds ? floor.getKey() : offset, true);
    }

    /** The first byte from {@code from} on that is here; {@link Long#MAX_VALUE} if there is none. */
    long nextPresent(long from) {
        Map.Entry<Long, Extent> next = endingBehind(from).firstEntry();
        return next == null ? Long.MAX_VALUE : Math.max(from, next.getKey());
    }

    /** The first byte from {@code from} on that is not here. */
    long nextAbsent(long from) {
        long at = from;
        Map.Entry<Long, Extent> floor = extents.floorEntry(at);
        while (floor != null && floor.getValue().end() > at) {
            at = floor.getValue().end();
            floor = extents.floorEntry(at);
        }
        return at;
    }

    /**
     * Takes out the first run with bytes from {@code from} on that is worth storing: one that ends before {@code storedBytes} (an
     * overwrite), or that has at least {@code minBytes}; of a longer one the first {@code maxBytes}, about. It may begin before {@code
     * from}, where somebody wrote meanwhile.
     */
    @Nullable
    Run takeRun(long from, long minBytes, long maxBytes, long storedBytes) {
        List<Extent> run = new ArrayList<>();
        long runBytes = 0;
        for (Extent extent : endingBehind(from).values()) {
            boolean continues = !run.isEmpty() && run.get(run.size() - 1).end() == extent.offset;
            if (!run.isEmpty() && (!continues || runBytes >= maxBytes)) {
                if (isWorthStoring(run, runBytes, minBytes, storedBytes)) {
                    break;
                }
                if (run.get(run.size() - 1).end() > storedBytes) {
                    // Nothing behind it either: the file must not grow past bytes that were written earlier.
                    return null;
                }
                run.clear();
                runBytes = 0;
            }
            run.add(extent);
            runBytes += extent.length;
        }
        if (run.isEmpty() || !isWorthStoring(run, runBytes, minBytes, storedBytes)) {
            return null;
        }
        for (Extent extent : run) {
            extents.remove(extent.offset);
            taken -= extent.taken(extent.length);
        }
        bytes -= runBytes;
        return new Run(run);
    }

    private static boolean isWorthStoring(List<Extent> run, long runBytes, long minBytes, long storedBytes) {
        return runBytes >= minBytes || run.get(run.size() - 1).end() < storedBytes;
    }

    /** One past the last byte, or 0. */
    long end() {
        return extents.isEmpty() ? 0 : extents.lastEntry().getValue().end();
    }

    /** Whether a byte at {@code offset} is here. */
    boolean has(long offset) {
        return intersects(offset, 1);
    }

    /**
     * Puts bytes of a run that could not be stored yet back, under anything newer. Returns what went back of what they had taken
     * of the capacity.
     */
    long putBack(Run run, long from) {
        long before = taken;
        for (Extent extent : run.extents) {
            long at = Math.max(from, extent.offset);
            while (at < extent.end()) {
                Map.Entry<Long, Extent> floor = extents.floorEntry(at);
                if (floor != null && floor.getValue().end() > at) {
                    at = floor.getValue().end();
                    continue;
                }
                Long next = extents.higherKey(at);
                int length = (int) (Math.min(extent.end(), next == null ? Long.MAX_VALUE : next) - at);
                write(
                        at,
                        ByteBuffer.wrap(extent.data, (int) (at - extent.offset), length),
                        extent.replaces ? StoredRanges.ALL : StoredRanges.NONE);
                at += length;
            }
        }
        return taken - before;
    }

    /** Extents without gaps, taken out to be stored; nobody changes them any more. */
    final class Run implements ByteRun {
        private final List<Extent> extents;

        private Run(List<Extent> extents) {
            this.extents = extents;
        }

        /** What the bytes from {@code from} to {@code to} have taken of the capacity. */
        long taken(long from, long to) {
            long bytes = 0;
            for (Extent extent : extents) {
                bytes += extent.taken(Math.max(0, Math.min(to, extent.end()) - Math.max(from, extent.offset)));
            }
            return bytes;
        }

        @Override
        public long start() {
            return extents.get(0).offset;
        }

        @Override
        public long end() {
            return extents.get(extents.size() - 1).end();
        }

        @Override
        public void copy(long from, byte[] target, int at, int length) {
            overlay(from, length, ByteBuffer.wrap(target, at, length));
        }

        /** As {@link DirtyExtents#overlay}. */
        void overlay(long offset, int length, ByteBuffer target) {
            long end = offset + length;
            for (Extent extent : extents) {
                long from = Math.max(offset, extent.offset);
                long to = Math.min(end, extent.end());
                if (from < to) {
                    target.put(
                            target.position() + (int) (from - offset), extent.data, (int) (from - extent.offset), (int)
                                    (to - from));
                }
            }
        }

        /** Gives the buffers back; the run must not be used any more. */
        void release() {
            for (Extent extent : extents) {
                budget.release(extent.data);
            }
        }
    }
}
