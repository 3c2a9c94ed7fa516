package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.ingest.ByteRun;

/**
 * The bytes of one file that are written and not stored yet, as extents by offset that do not overlap. Not thread-safe:
 * guarded by the file's {@link Node}.
 */
public final class DirtyExtents {
    /** Bytes {@code offset} to {@code offset + length} of the file, in {@code data[0 .. length)}. */
    private static final class Extent {
        final long offset;
        /** Whether its bytes replace stored ones, and so take no additional capacity. */
        final boolean replaces;

        byte[] data;
        int length;

        Extent(long offset, boolean replaces, byte[] data) {
            this.offset = offset;
            this.replaces = replaces;
            this.data = data;
        }

        /** Returns the capacity in bytes that {@code bytes} bytes of this extent have taken. */
        long taken(long bytes) {
            return replaces ? 0 : bytes;
        }

        long end() {
            return offset + length;
        }
    }

    /** Maximum number of ranges whose bytes are logged. */
    private static final int MAX_UNLOGGED_RANGES = (int) (FileIntents.MAX_BYTES / FileIntents.RECORD_BYTES);

    private final DirtyBudget budget;
    /** Called with bytes of capacity that are released. */
    private final LongConsumer released;

    private final TreeMap<Long, Extent> extents = new TreeMap<>();
    private long bytes;
    /** Capacity in bytes that these bytes have taken. */
    private long taken;

    private final ByteRanges unlogged = new ByteRanges();

    DirtyExtents(DirtyBudget budget, LongConsumer released) {
        this.budget = budget;
        this.released = released;
    }

    public boolean isEmpty() {
        return extents.isEmpty();
    }

    /** Returns the number of bytes that are written and not stored. */
    public long bytes() {
        return bytes;
    }

    /** Returns those bytes that were written since the intent log got bytes of the file; it removes what it takes. */
    public ByteRanges unlogged() {
        return unlogged;
    }

    /** Returns a copy of {@code length} bytes that are here. */
    byte[] copy(long from, int length) {
        ByteBuffer copy = ByteBuffer.allocate(length);
        overlay(from, length, copy);
        return copy.array();
    }

    /**
     * Returns the capacity in bytes that these bytes have taken: all of them, except those known to replace stored
     * ones.
     */
    long takenBytes() {
        return taken;
    }

    /**
     * Returns the capacity in bytes that {@link #write} of {@code length} bytes needs: the bytes that are neither here
     * nor stored.
     */
    public long wanted(long offset, int length, StoredRanges stored) {
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
     * Copies all of {@code source}'s remaining bytes; the newest write wins. The caller has taken the capacity that
     * {@link #wanted} returns for the same {@code stored}.
     */
    public void write(long offset, ByteBuffer source, StoredRanges stored) {
        noteChanged(offset, source);
        put(offset, source, stored);
        if (unlogged.count() > Math.max(MAX_UNLOGGED_RANGES, 2 * extents.size())) {
            // They are too many for the log and take memory that nobody counts: every byte is then one to log.
            extents.values().forEach(extent -> unlogged.add(extent.offset, extent.end()));
        }
    }

    /**
     * Notes that the log lacks what a write changes: from the first to the last byte that is not here yet, or differs.
     * The kernel's write-back cache sends the whole page of a change, so an append of 100 bytes brings up to 4096.
     */
    private void noteChanged(long offset, ByteBuffer source) {
        long end = offset + source.remaining();
        long from = offset;
        for (Extent extent = at(from); from < end && extent != null; extent = at(from)) {
            int length = (int) (Math.min(end, extent.end()) - from);
            ByteBuffer here = ByteBuffer.wrap(extent.data, (int) (from - extent.offset), length);
            int same = here.mismatch(source.slice(source.position() + (int) (from - offset), length));
            from += same < 0 ? length : same;
            if (same >= 0) {
                break;
            }
        }
        long to = end;
        for (Extent extent = at(to - 1); from < to && extent != null; extent = at(to - 1)) {
            long begin = Math.max(from, extent.offset);
            while (to > begin
                    && extent.data[(int) (to - 1 - extent.offset)]
                            == source.get(source.position() + (int) (to - 1 - offset))) {
                to--;
            }
            if (to > begin) {
                break;
            }
        }
        unlogged.add(from, to);
    }

    /** Returns the extent that has the byte at {@code offset}; null if it is not here. */
    private @Nullable Extent at(long offset) {
        Map.Entry<Long, Extent> floor = extents.floorEntry(offset);
        return floor == null || floor.getValue().end() <= offset ? null : floor.getValue();
    }

    private void put(long offset, ByteBuffer source, StoredRanges stored) {
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

    /**
     * Writes into the gap at {@code at}: appends to {@code before} if that ends there and has room, otherwise adds a
     * new extent. Returns the number of bytes written.
     */
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

    /**
     * Copies the bytes in {@code [offset, offset + length)} that are here into {@code target}, whose position
     * corresponds to {@code offset}.
     */
    void overlay(long offset, int length, ByteBuffer target) {
        long end = offset + length;
        for (Extent extent : endingBehind(offset).headMap(end, false).values()) {
            long from = Math.max(offset, extent.offset);
            long to = Math.min(end, extent.end());
            target.put(target.position() + (int) (from - offset), extent.data, (int) (from - extent.offset), (int)
                    (to - from));
        }
    }

    /** Returns whether every byte of the range is here. */
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

    /** Returns whether any byte of the range is here. */
    boolean intersects(long offset, int length) {
        Map.Entry<Long, Extent> last = extents.lowerEntry(offset + length);
        return last != null && last.getValue().end() > offset;
    }

    /** Drops everything at or after {@code size}, and releases the capacity it had taken. */
    public void truncate(long size) {
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
        unlogged.remove(size, Long.MAX_VALUE);
        released.accept(before - taken);
    }

    /** Drops the bytes from {@code from} to {@code to} (exclusive), and releases the capacity they had taken. */
    public void remove(long from, long to) {
        long before = taken;
        unlogged.remove(from, to);
        for (Extent extent : overlapping(from, to)) {
            extents.remove(extent.offset);
            bytes -= extent.length;
            taken -= extent.taken(extent.length);
            if (extent.end() > to) {
                addCopy(extent, to, extent.end());
            }
            if (extent.offset < from) {
                // Not in the old buffer: a removal of every second block would leave the whole of it for each block.
                addCopy(extent, extent.offset, from);
            }
            budget.release(extent.data);
        }
        released.accept(before - taken);
    }

    /** Adds a copy of an extent's bytes {@code from} to {@code to} (exclusive). */
    private void addCopy(Extent extent, long from, long to) {
        int length = (int) (to - from);
        Extent copy = new Extent(from, extent.replaces, budget.buffer(length));
        System.arraycopy(extent.data, (int) (from - extent.offset), copy.data, 0, length);
        copy.length = length;
        bytes += length;
        taken += copy.taken(length);
        extents.put(from, copy);
    }

    /** Sets the bytes from {@code from} to {@code to} (exclusive) that are here to zero. */
    public void zero(long from, long to) {
        for (Extent extent : overlapping(from, to)) {
            int first = (int) Math.max(0, from - extent.offset);
            int end = (int) Math.min(extent.length, to - extent.offset);
            Arrays.fill(extent.data, first, end, (byte) 0);
            unlogged.add(extent.offset + first, extent.offset + end);
        }
    }

    /** Returns the extents with a byte in the range; a copy, because callers change the extents of the file. */
    private List<Extent> overlapping(long from, long to) {
        return from < to ? List.copyOf(endingBehind(from).headMap(to, false).values()) : List.of();
    }

    /**
     * Returns the extents that end after {@code offset}, including the one that begins before it and contains it.
     * Callers must not search by the beginnings of extents alone, because a write may have joined two of them.
     */
    private NavigableMap<Long, Extent> endingBehind(long offset) {
        Map.Entry<Long, Extent> floor = extents.floorEntry(offset);
        boolean holds = floor != null && floor.getValue().end() > offset;
        return extents.tailMap(holds ? floor.getKey() : offset, true);
    }

    /**
     * Returns the offset of the first byte at or after {@code from} that is here; {@link Long#MAX_VALUE} if there is
     * none.
     */
    long nextPresent(long from) {
        Map.Entry<Long, Extent> next = endingBehind(from).firstEntry();
        return next == null ? Long.MAX_VALUE : Math.max(from, next.getKey());
    }

    /** Returns the offset of the first byte at or after {@code from} that is not here. */
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
     * Removes and returns the first run with bytes at or after {@code from} that is worth storing: one that ends before
     * {@code storedBytes} (an overwrite), or one of at least {@code minBytes} bytes. Of a longer run, takes
     * approximately the first {@code maxBytes} bytes. The run may begin before {@code from} if bytes were written there
     * meanwhile.
     */
    public @Nullable Run takeRun(long from, long minBytes, long maxBytes, long storedBytes) {
        List<Extent> run = new ArrayList<>();
        long runBytes = 0;
        for (Extent extent : endingBehind(from).values()) {
            boolean continues = !run.isEmpty() && run.get(run.size() - 1).end() == extent.offset;
            if (!run.isEmpty() && (!continues || runBytes >= maxBytes)) {
                if (isWorthStoring(run, runBytes, minBytes, storedBytes)) {
                    break;
                }
                if (run.get(run.size() - 1).end() > storedBytes) {
                    // Do not store anything after it either: the file must not grow past bytes that were written
                    // earlier.
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
        return take(run, runBytes);
    }

    private Run take(List<Extent> run, long runBytes) {
        for (Extent extent : run) {
            extents.remove(extent.offset);
            taken -= extent.taken(extent.length);
        }
        bytes -= runBytes;
        long start = run.get(0).offset;
        long end = run.get(run.size() - 1).end();
        ByteRanges unloggedBefore = new ByteRanges();
        unloggedBefore.addAll(unlogged.within(start, end));
        unlogged.remove(start, end);
        return new Run(run, unloggedBefore);
    }

    /**
     * Removes and returns all bytes as one run that begins at offset 0; null if they are no such run, or more than
     * {@code maxBytes}.
     */
    public @Nullable Run takeWhole(long maxBytes) {
        boolean isWhole = !extents.isEmpty() && end() == bytes && bytes <= maxBytes;
        return isWhole ? takeRun(0, 1, maxBytes, 0) : null;
    }

    private static boolean isWorthStoring(List<Extent> run, long runBytes, long minBytes, long storedBytes) {
        return runBytes >= minBytes || run.get(run.size() - 1).end() < storedBytes;
    }

    /** Returns the offset after the last byte, or 0 if there is none. */
    public long end() {
        return extents.isEmpty() ? 0 : extents.lastEntry().getValue().end();
    }

    /** Returns whether the byte at {@code offset} is here. */
    public boolean has(long offset) {
        return intersects(offset, 1);
    }

    /**
     * Puts bytes {@code from} to {@code to} of a run, which could not be stored yet, back. Newer bytes win. Those that
     * the intent log has are not logged again. Returns the part of the run's taken capacity that was put back with
     * them, in bytes.
     */
    public long putBack(Run run, long from, long to) {
        long before = taken;
        for (Extent extent : run.extents) {
            long at = Math.max(from, extent.offset);
            long end = Math.min(to, extent.end());
            while (at < end) {
                Map.Entry<Long, Extent> floor = extents.floorEntry(at);
                if (floor != null && floor.getValue().end() > at) {
                    at = floor.getValue().end();
                    continue;
                }
                Long next = extents.higherKey(at);
                int length = (int) (Math.min(end, next == null ? Long.MAX_VALUE : next) - at);
                put(
                        at,
                        ByteBuffer.wrap(extent.data, (int) (at - extent.offset), length),
                        extent.replaces ? StoredRanges.ALL : StoredRanges.NONE);
                unlogged.addAll(run.unloggedBefore.within(at, at + length));
                at += length;
            }
        }
        return taken - before;
    }

    /**
     * Removes and returns bytes from the beginning on, with the holes between them: approximately the first
     * {@code maxBytes}. Null if there are none.
     */
    public @Nullable Run takeSome(long maxBytes) {
        List<Extent> some = new ArrayList<>();
        long someBytes = 0;
        for (Extent extent : extents.values()) {
            if (someBytes >= maxBytes) {
                break;
            }
            some.add(extent);
            someBytes += extent.length;
        }
        return some.isEmpty() ? null : take(some, someBytes);
    }

    /** Extents that were taken out to be stored. They do not change any more. */
    public final class Run implements ByteRun {
        private final List<Extent> extents;
        /** Those of its bytes that the intent log does not have. */
        private final ByteRanges unloggedBefore;
        /** Whether a call that did not end in time may still read its buffers. */
        private volatile boolean isForsaken;

        private Run(List<Extent> extents, ByteRanges unloggedBefore) {
            this.extents = extents;
            this.unloggedBefore = unloggedBefore;
        }

        /** Returns the capacity in bytes that the bytes from {@code from} to {@code to} have taken. */
        public long taken(long from, long to) {
            long bytes = 0;
            for (Extent extent : extents) {
                bytes += extent.taken(Math.max(0, Math.min(to, extent.end()) - Math.max(from, extent.offset)));
            }
            return bytes;
        }

        /** Returns the number of its bytes. */
        public long bytes() {
            long bytes = 0;
            for (Extent extent : extents) {
                bytes += extent.length;
            }
            return bytes;
        }

        /** Returns its ranges in ascending order. */
        public List<ByteRanges.Range> ranges() {
            ByteRanges ranges = new ByteRanges();
            extents.forEach(extent -> ranges.add(extent.offset, extent.end()));
            return ranges.ranges();
        }

        /** Receives parts of a run. */
        @FunctionalInterface
        public interface Sink {
            void write(long offset, ByteBuffer bytes) throws IOException;
        }

        /** Passes all of its bytes on, in ascending order, unless it is {@link #forsake forsaken}. */
        public void writeTo(Sink sink) throws IOException {
            for (Extent extent : extents) {
                if (isForsaken) {
                    throw new InterruptedIOException("the wait for a write has ended");
                }
                sink.write(extent.offset, ByteBuffer.wrap(extent.data, 0, extent.length));
            }
        }

        boolean covers(long offset, int length) {
            return nextAbsent(offset) >= offset + length;
        }

        long nextPresent(long from) {
            for (Extent extent : extents) {
                if (extent.end() > from) {
                    return Math.max(from, extent.offset);
                }
            }
            return Long.MAX_VALUE;
        }

        long nextAbsent(long from) {
            long at = from;
            for (Extent extent : extents) {
                if (extent.offset <= at && extent.end() > at) {
                    at = extent.end();
                }
            }
            return at;
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

        /** Copies bytes of this run as {@link DirtyExtents#overlay} does. */
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

        /** Releases the buffers; the run must not be used any more. */
        public void release() {
            for (Extent extent : extents) {
                if (isForsaken) {
                    budget.forsake(extent.data);
                } else {
                    budget.release(extent.data);
                }
            }
        }

        /** Says that a call which failed or did not end in time may still read its buffers. */
        public void forsake() {
            isForsaken = true;
        }
    }
}
