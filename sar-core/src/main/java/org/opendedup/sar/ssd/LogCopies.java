package org.opendedup.sar.ssd;

import java.util.Arrays;
import org.opendedup.sar.common.Fingerprints;

/**
 * Copies that follow one another in the log, as the Map table has them at one time, and what a verification found of
 * each. For use by one thread at a time.
 */
public final class LogCopies {
    /** Copies in one of these at most: 5 MB of memory. */
    static final int MOST = 1 << 16;

    private static final int INDEX_BITS = 24;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    /** What a verification found. */
    public enum State {
        NOT_READ,
        /** It is what was written: its checksum and its fingerprint are right. */
        SOUND,
        /** It was not what was written, or not readable, and its entry was removed. */
        WRONG,
        /** Its segment file is gone; its entry was removed. */
        NOWHERE,
        /** It was moved or removed meanwhile, or it is not known whether it can be read. */
        PASSED_OVER
    }

    /**
     * Place of each copy in the order of the log, and its index in the other arrays: segment 16 bits | offset / 8 24 |
     * index 24. Up to twice {@link #MOST} while they are collected.
     */
    private final long[] order = new long[2 * MOST];

    private final long[] chunkIds = new long[2 * MOST];
    private final int[] lengths = new int[2 * MOST];
    private int count;
    /** Place from which on nothing more is collected, as in {@link #order} without the index. */
    private long endPlace = Long.MAX_VALUE;

    private final State[] states = new State[MOST];
    private final int[] rawLengths = new int[MOST];
    private byte[] fingerprints = {};

    private LogCopies() {}

    /** Returns the first copies of a table that are not before a place in the log. */
    static LogCopies from(MapTable table, int segment, long offset) {
        LogCopies copies = new LogCopies();
        long first = place(segment, (offset + PackedEntry.ALIGNMENT - 1) / PackedEntry.ALIGNMENT);
        table.forEach(entry -> copies.collect(entry, first));
        copies.keepFirst();
        copies.fingerprints = new byte[copies.count * Fingerprints.BYTES];
        Arrays.fill(copies.states, State.NOT_READ);
        return copies;
    }

    private static long place(int segment, long unit) {
        return (long) segment << INDEX_BITS | unit;
    }

    private void collect(MapEntry entry, long first) {
        long place = place(entry.segment, entry.offset / PackedEntry.ALIGNMENT);
        if (place < first || place >= endPlace) {
            return;
        }
        if (count == order.length) {
            keepFirst();
            if (place >= endPlace) {
                return;
            }
        }
        // A segment number from 2^15 on makes it negative: the order is that of unsigned numbers.
        order[count] = (place << INDEX_BITS | count) ^ Long.MIN_VALUE;
        chunkIds[count] = entry.chunkId;
        lengths[count] = entry.length;
        count++;
    }

    /** Sorts what was collected, and drops what is more than {@link #MOST}. */
    private void keepFirst() {
        Arrays.sort(order, 0, count);
        int kept = Math.min(count, MOST);
        long[] keptIds = new long[kept];
        int[] keptLengths = new int[kept];
        for (int i = 0; i < kept; i++) {
            int from = (int) order[i] & INDEX_MASK;
            keptIds[i] = chunkIds[from];
            keptLengths[i] = lengths[from];
            order[i] = order[i] & ~(long) INDEX_MASK | i;
        }
        if (count > MOST) {
            endPlace = (order[MOST] ^ Long.MIN_VALUE) >>> INDEX_BITS;
        }
        System.arraycopy(keptIds, 0, chunkIds, 0, kept);
        System.arraycopy(keptLengths, 0, lengths, 0, kept);
        count = kept;
    }

    public int count() {
        return count;
    }

    public long chunkId(int i) {
        return chunkIds[i];
    }

    /** Returns the number of the segment file. */
    public int segment(int i) {
        return (int) ((order[i] ^ Long.MIN_VALUE) >>> 2 * INDEX_BITS);
    }

    /** Returns the byte in the segment file at which the record begins. */
    public int offset(int i) {
        return (int) (order[i] >>> INDEX_BITS & INDEX_MASK) * PackedEntry.ALIGNMENT;
    }

    /** Returns the bytes of the record. */
    public int bytes(int i) {
        return lengths[i];
    }

    public State state(int i) {
        return states[i];
    }

    /** Returns the bytes of the chunk; 0 unless the copy is sound. */
    public int rawLength(int i) {
        return rawLengths[i];
    }

    /**
     * Returns the fingerprints of the sound copies; that of copy {@code i} begins at {@code i * Fingerprints.BYTES}.
     */
    public byte[] fingerprints() {
        return fingerprints;
    }

    void set(int i, State state) {
        states[i] = state;
    }

    void setSound(int i, int rawLength, byte[] fingerprint) {
        states[i] = State.SOUND;
        rawLengths[i] = rawLength;
        System.arraycopy(fingerprint, 0, fingerprints, i * Fingerprints.BYTES, Fingerprints.BYTES);
    }
}
