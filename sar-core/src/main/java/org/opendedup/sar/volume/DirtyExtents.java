package org.opendedup.sar.volume;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
        byte[] data;
        int length;

        Extent(long offset, byte[] data) {
            this.offset = offset;
            this.data = data;
        }

        long end() {
            return offset + length;
        }
    }

    private final DirtyBudget budget;
    private final TreeMap<Long, Extent> extents = new TreeMap<>();
    private long bytes;

    DirtyExtents(DirtyBudget budget) {
        this.budget = budget;
    }

    boolean isEmpty() {
        return extents.isEmpty();
    }

    /** Bytes written and not stored. */
    long bytes() {
        return bytes;
    }

    /** Takes all of {@code source}'s remaining bytes; the newest write wins. */
    void write(long offset, ByteBuffer source) {
        long at = offset;
        while (source.hasRemaining()) {
            Map.Entry<Long, Extent> floor = extents.floorEntry(at);
            Extent before = floor == null ? null : floor.getValue();
            if (before != null && at < before.end()) {
                int length = (int) Math.min(source.remaining(), before.end() - at);
                source.get(before.data, (int) (at - before.offset), length);
                at += length;
            } else {
                at += extend(before, at, source);
            }
        }
    }

    /** Writes into the gap at {@code at}: behind {@code before} if that ends there and has room, else as a new extent. */
    private int extend(@Nullable Extent before, long at, ByteBuffer source) {
        Long next = extents.higherKey(at);
        int room = (int) Math.min(source.remaining(), next == null ? Integer.MAX_VALUE : next - at);
        Extent extent;
        if (before != null && before.end() == at && before.length < DirtyBudget.BUFFER_BYTES) {
            extent = before;
            room = Math.min(room, DirtyBudget.BUFFER_BYTES - extent.length);
            ensureCapacity(extent, extent.length + room);
        } else {
            room = Math.min(room, DirtyBudget.BUFFER_BYTES);
            extent = new Extent(at, budget.buffer(room));
            extents.put(at, extent);
        }
        source.get(extent.data, extent.length, room);
        extent.length += room;
        bytes += room;
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
        Long first = extents.floorKey(offset);
        for (Extent extent :
                extents.tailMap(first == null ? offset : first, true).values()) {
            if (extent.offset >= end) {
                return;
            }
            long from = Math.max(offset, extent.offset);
            long to = Math.min(end, extent.end());
            if (from < to) {
                target.put(target.position() + (int) (from - offset), extent.data, (int) (from - extent.offset), (int)
                        (to - from));
            }
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

    /** Drops everything from {@code size} on. */
    void truncate(long size) {
        Map.Entry<Long, Extent> floor = extents.lowerEntry(size);
        if (floor != null && floor.getValue().end() > size) {
            Extent extent = floor.getValue();
            bytes -= extent.end() - size;
            extent.length = (int) (size - extent.offset);
        }
        Map<Long, Extent> beyond = extents.tailMap(size, true);
        for (Extent extent : beyond.values()) {
            bytes -= extent.length;
            budget.release(extent.data);
        }
        beyond.clear();
    }

    /** Drops the bytes from {@code from} to {@code to} (exclusive). */
    void remove(long from, long to) {
        for (Extent extent : overlapping(from, to)) {
            extents.remove(extent.offset);
            bytes -= extent.length;
            if (extent.end() > to) {
                int skip = (int) (to - extent.offset);
                addCopy(to, extent.data, skip, extent.length - skip);
            }
            if (extent.offset < from) {
                extent.length = (int) (from - extent.offset);
                bytes += extent.length;
                extents.put(extent.offset, extent);
            } else {
                budget.release(extent.data);
            }
        }
    }

    private void addCopy(long offset, byte[] data, int from, int length) {
        Extent copy = new Extent(offset, budget.buffer(length));
        System.arraycopy(data, from, copy.data, 0, length);
        copy.length = length;
        bytes += length;
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

    private List<Extent> overlapping(long from, long to) {
        if (from >= to) {
            return List.of();
        }
        Long first = extents.floorKey(from);
        List<Extent> found = new ArrayList<>();
        for (Extent extent :
                extents.subMap(first == null ? from : first, true, to, false).values()) {
            if (extent.end() > from) {
                found.add(extent);
            }
        }
        return found;
    }

    /** The first byte from {@code from} on that is here; {@link Long#MAX_VALUE} if there is none. */
    long nextPresent(long from) {
        if (has(from)) {
            return from;
        }
        Long next = extents.higherKey(from);
        return next == null ? Long.MAX_VALUE : next;
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
     * Takes out the first run from {@code from} on that is worth storing: one that ends before {@code storedBytes} (an overwrite), or that has at
     * least {@code minBytes}; of a longer one the first {@code maxBytes}, about.
     */
    @Nullable
    Run takeRun(long from, long minBytes, long maxBytes, long storedBytes) {
        List<Extent> run = new ArrayList<>();
        long runBytes = 0;
        for (Extent extent : extents.tailMap(from, true).values()) {
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

    /** Puts bytes of a run that could not be stored yet back, under anything newer. */
    void putBack(Run run, long from) {
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
                write(at, ByteBuffer.wrap(extent.data, (int) (at - extent.offset), length));
                at += length;
            }
        }
    }

    /** Extents without gaps, taken out to be stored; nobody changes them any more. */
    final class Run implements ByteRun {
        private final List<Extent> extents;

        private Run(List<Extent> extents) {
            this.extents = extents;
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
