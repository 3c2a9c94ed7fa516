package org.opendedup.sar.ssd;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Collects the live records of one segment file after another, front to back, one window at a time, so that the log can
 * copy them to its head. Used by the writing thread.
 */
final class SegmentCleaner {
    private static final int WINDOW_BYTES = 1 << 20;
    private static final int RECORDS = 1024;

    private final MapTable table;
    private final byte[] window = new byte[WINDOW_BYTES];
    private final MapEntry removed = new MapEntry();

    private @Nullable SegmentFile victim;
    /** Offset and index in the other arrays of each live record, sorted by offset. */
    private long[] order = new long[RECORDS];

    private long[] chunkIds = new long[RECORDS];
    private int[] lengths = new int[RECORDS];
    private int count;
    private int next;

    SegmentCleaner(MapTable table) {
        this.table = table;
    }

    /** Returns the segment being cleaned; null if there is none. */
    @Nullable
    SegmentFile victim() {
        return victim;
    }

    /** Returns whether all live records of the segment have been collected. */
    boolean isDone() {
        return next == count;
    }

    /** Starts with a segment that receives no new entries any more. */
    void start(SegmentFile segment) {
        victim = segment;
        count = 0;
        next = 0;
        table.forEach(entry -> {
            if (entry.segment == segment.number()) {
                add(entry);
            }
        });
        Arrays.sort(order, 0, count);
    }

    private void add(MapEntry entry) {
        if (count == order.length) {
            order = Arrays.copyOf(order, 2 * count);
            chunkIds = Arrays.copyOf(chunkIds, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        order[count] = (long) entry.offset << Integer.SIZE | count;
        chunkIds[count] = entry.chunkId;
        lengths[count] = entry.length;
        count++;
    }

    /** Ends the cleaning of the segment. */
    void finish() {
        victim = null;
        count = 0;
        next = 0;
    }

    /**
     * Adds the next window's live records to a batch. Removes the entry of each damaged one.
     *
     * @return number of damaged records
     * @throws IOException if the window can't be read; its entries are removed
     */
    int takeWindow(SegmentFile segment, RecordBatch batch) throws IOException {
        int from = next;
        int to = endOfWindow(from);
        next = to;
        int start = offset(from);
        int bytes = Math.min(WINDOW_BYTES, (int) (segment.length() - start));
        try {
            if (bytes < 0) {
                throw new EOFException(SegmentFile.name(segment.number()) + " ends before byte " + start);
            }
            bytes = Math.min(bytes, offset(to - 1) + length(to - 1) - start);
            segment.read(start, window, bytes);
        } catch (IOException e) {
            for (int i = from; i < to; i++) {
                drop(segment, i);
            }
            throw e;
        }
        int damaged = 0;
        for (int i = from; i < to; i++) {
            damaged += take(segment, i, offset(i) - start, bytes, batch) ? 0 : 1;
        }
        return damaged;
    }

    private int endOfWindow(int from) {
        int to = from;
        while (to < count && offset(to) + length(to) - offset(from) <= WINDOW_BYTES) {
            to++;
        }
        return to;
    }

    /** Adds a record to the batch; returns false if it is damaged and its entry was removed. */
    private boolean take(SegmentFile segment, int i, int at, int bytes, RecordBatch batch) {
        long chunkId = chunkIds[(int) order[i]];
        int length = length(i);
        RecordSeal seal = segment.seal();
        batch.reserve(length);
        if (at + length > bytes
                || !seal.isSound(window, at, length, chunkId)
                || !seal.open(window, at, length, offset(i), batch.bytes(), batch.used())) {
            return !drop(segment, i);
        }
        batch.addCopy(chunkId, length, offset(i));
        return true;
    }

    private boolean drop(SegmentFile segment, int i) {
        return table.removeIfAt(chunkIds[(int) order[i]], segment.number(), offset(i), removed);
    }

    private int offset(int i) {
        return (int) (order[i] >>> Integer.SIZE);
    }

    private int length(int i) {
        return lengths[(int) order[i]];
    }
}
