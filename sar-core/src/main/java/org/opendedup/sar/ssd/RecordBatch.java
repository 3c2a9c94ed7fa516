package org.opendedup.sar.ssd;

import java.util.Arrays;

/**
 * Encoded records on their way to the head of the log, in one byte array. A struct of arrays, reused. Not thread-safe.
 */
final class RecordBatch {
    private static final int RECORDS = 256;
    private static final int BYTES = 256 << 10;

    private byte[] bytes = new byte[BYTES];
    private int used;
    private int count;
    private int placed;
    private long[] chunkIds = new long[RECORDS];
    private int[] ends = new int[RECORDS];
    private int[] counts = new int[RECORDS];
    private int[] savings = new int[RECORDS];
    private int[] fromOffsets = new int[RECORDS];

    void clear() {
        used = 0;
        count = 0;
        placed = 0;
    }

    /** Makes room for a record; its bytes must be written to {@link #bytes} from {@link #used} on. */
    void reserve(int length) {
        if (bytes.length - used < length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, used + length));
        }
    }

    byte[] bytes() {
        return bytes;
    }

    /** Returns the bytes of the records added. */
    int used() {
        return used;
    }

    /** Adds the record of a chunk that is new on the SSD; its bytes are already at {@link #used}. */
    void addNew(long chunkId, int length, int references, int saving) {
        add(chunkId, length, references, saving, -1);
    }

    /** Adds the copy of a record; its bytes are already at {@link #used}. */
    void addCopy(long chunkId, int length, int fromOffset) {
        add(chunkId, length, 0, 0, fromOffset);
    }

    private void add(long chunkId, int length, int references, int saving, int fromOffset) {
        if (count == chunkIds.length) {
            grow();
        }
        chunkIds[count] = chunkId;
        counts[count] = references;
        savings[count] = saving;
        fromOffsets[count] = fromOffset;
        used += length;
        ends[count] = used;
        count++;
    }

    private void grow() {
        int records = 2 * count;
        chunkIds = Arrays.copyOf(chunkIds, records);
        ends = Arrays.copyOf(ends, records);
        counts = Arrays.copyOf(counts, records);
        savings = Arrays.copyOf(savings, records);
        fromOffsets = Arrays.copyOf(fromOffsets, records);
    }

    int count() {
        return count;
    }

    /** Returns how many of the records, from the first one on, are in the log and have their entries. */
    int placed() {
        return placed;
    }

    /** Notes that the next record is in the log and has its entry. */
    void notePlaced() {
        placed++;
    }

    long chunkId(int i) {
        return chunkIds[i];
    }

    /** Returns where record i begins in {@link #bytes}; {@code offset(count())} is {@link #used}. */
    int offset(int i) {
        return i == 0 ? 0 : ends[i - 1];
    }

    int length(int i) {
        return ends[i] - offset(i);
    }

    int references(int i) {
        return counts[i];
    }

    int saving(int i) {
        return savings[i];
    }

    /** Returns the record's offset in the segment that is being cleaned. */
    int fromOffset(int i) {
        return fromOffsets[i];
    }
}
