package org.opendedup.sar.index.silo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * SiLo's block: contiguous segments of the streams as they were stored, with the fingerprint and the copy of each of
 * their chunks, and a hash table of them (LHTable). A block of 256 MiB of data in chunks of 8 KiB takes 1.6 MB of
 * memory. Not thread-safe.
 */
final class Block {
    /** Bytes of an entry: fingerprint, then a chunk id, little-endian; its sign bit is set in a fresh chunk. */
    static final int ENTRY_BYTES = Fingerprints.BYTES + Long.BYTES;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long FRESH = Long.MIN_VALUE;

    private static final int INDEX_BITS = 17;
    /** Maximum number of entries: 256 MiB in chunks of 2 KiB. */
    static final int MAX_ENTRIES = (1 << INDEX_BITS) - 1;

    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    /** A free place of the table; no entry has this index. */
    private static final int FREE = -1;

    /**
     * Bytes of a fingerprint that select the place in the table, and those that are kept there to compare. The first 16
     * are random in all fingerprints, also those of a client.
     */
    private static final int PLACE_OFFSET = 8;

    private static final int TAG_OFFSET = 12;

    private final int number;
    private byte[] entries;
    private int count;
    private int[] segmentEnds;
    private int segments;
    private long dataBytes;
    /** For each place, the index of an entry and, above it, bits of its fingerprint. */
    private int[] table;

    Block(int number) {
        this(number, new byte[256 * ENTRY_BYTES], 0, new int[16], 0, 0);
    }

    private Block(int number, byte[] entries, int count, int[] segmentEnds, int segments, long dataBytes) {
        this.number = number;
        this.entries = entries;
        this.count = count;
        this.segmentEnds = segmentEnds;
        this.segments = segments;
        this.dataBytes = dataBytes;
        table = newTable(count);
        for (int entry = 0; entry < count; entry++) {
            enter(entry);
        }
    }

    /** Makes a block of its entries. */
    static Block of(int number, byte[] entries, int[] segmentEnds, long dataBytes) {
        return new Block(number, entries, entries.length / ENTRY_BYTES, segmentEnds, segmentEnds.length, dataBytes);
    }

    private static int[] newTable(int entries) {
        int[] places = new int[Integer.highestOneBit(Math.max(255, entries * 4 / 3)) * 2];
        Arrays.fill(places, FREE);
        return places;
    }

    /** Adds a chunk to the last segment. A fingerprint leads to the copy that was added last. */
    void add(byte[] fingerprints, int offset, long chunkId, boolean fresh, int length) {
        assert count < MAX_ENTRIES;
        if (count * ENTRY_BYTES == entries.length) {
            entries = Arrays.copyOf(entries, Math.max(256 * ENTRY_BYTES, entries.length * 2));
        }
        System.arraycopy(fingerprints, offset, entries, count * ENTRY_BYTES, Fingerprints.BYTES);
        LONG.set(entries, count * ENTRY_BYTES + Fingerprints.BYTES, fresh ? chunkId | FRESH : chunkId);
        dataBytes += length;
        if (table.length * 3L < count * 4L) {
            table = newTable(count * 2);
            for (int entry = 0; entry < count; entry++) {
                enter(entry);
            }
        }
        enter(count++);
    }

    /** Ends the last segment. Returns whether anything was added to it; if not, there is no such segment. */
    boolean endSegment() {
        if (count == (segments == 0 ? 0 : segmentEnds[segments - 1])) {
            return false;
        }
        if (segments == segmentEnds.length) {
            segmentEnds = Arrays.copyOf(segmentEnds, Math.max(16, segments * 2));
        }
        segmentEnds[segments++] = count;
        return true;
    }

    /** Returns the key of a segment's representative, as in {@link Representative#key}. */
    long representative(int segment) {
        int lowest = segment == 0 ? 0 : segmentEnds[segment - 1];
        for (int entry = lowest + 1; entry < segmentEnds[segment]; entry++) {
            if (Representative.compare(entries, entry * ENTRY_BYTES, entries, lowest * ENTRY_BYTES) < 0) {
                lowest = entry;
            }
        }
        return Representative.key(entries, lowest * ENTRY_BYTES);
    }

    private void enter(int entry) {
        int at = entry * ENTRY_BYTES;
        int place = place(entries, at);
        while (table[place] != FREE) {
            int other = table[place] & INDEX_MASK;
            if (table[place] >>> INDEX_BITS == tag(entries, at) && isEqual(other, entries, at)) {
                break;
            }
            place = place + 1 & table.length - 1;
        }
        table[place] = tag(entries, at) << INDEX_BITS | entry;
    }

    /**
     * Returns the entry that a fingerprint leads to; -1 if there is none.
     *
     * @param fingerprints it begins at {@code fingerprints[offset]}
     */
    int find(byte[] fingerprints, int offset) {
        int tag = tag(fingerprints, offset);
        int place = place(fingerprints, offset);
        for (int found = table[place]; found != FREE; found = table[place]) {
            if (found >>> INDEX_BITS == tag && isEqual(found & INDEX_MASK, fingerprints, offset)) {
                return found & INDEX_MASK;
            }
            place = place + 1 & table.length - 1;
        }
        return -1;
    }

    private int place(byte[] fingerprints, int offset) {
        return (int) INT.get(fingerprints, offset + PLACE_OFFSET) & table.length - 1;
    }

    private static int tag(byte[] fingerprints, int offset) {
        return (int) INT.get(fingerprints, offset + TAG_OFFSET) >>> INDEX_BITS;
    }

    private boolean isEqual(int entry, byte[] fingerprints, int offset) {
        int at = entry * ENTRY_BYTES;
        return Arrays.equals(entries, at, at + Fingerprints.BYTES, fingerprints, offset, offset + Fingerprints.BYTES);
    }

    int number() {
        return number;
    }

    /** Returns the number of entries. */
    int count() {
        return count;
    }

    /** Returns the number of segments that ended. */
    int segments() {
        return segments;
    }

    /** Returns the number of entries before the end of a segment. */
    int segmentEnd(int segment) {
        return segmentEnds[segment];
    }

    /** Returns the length of the data that its chunks stand for, in bytes. */
    long dataBytes() {
        return dataBytes;
    }

    /** Returns its entries, {@link #ENTRY_BYTES} each; the array may be longer. */
    byte[] entries() {
        return entries;
    }

    static int fingerprintOffset(int entry) {
        return entry * ENTRY_BYTES;
    }

    long chunkId(int entry) {
        return (long) LONG.get(entries, entry * ENTRY_BYTES + Fingerprints.BYTES) & ~FRESH;
    }

    /** Returns whether the copy was new when it was added: the others are in earlier blocks, too. */
    boolean isFresh(int entry) {
        return (long) LONG.get(entries, entry * ENTRY_BYTES + Fingerprints.BYTES) < 0;
    }

    long container(int entry) {
        return ChunkId.container(chunkId(entry));
    }

    /** Returns the memory of the block, in bytes. */
    long bytes() {
        return entries.length + (long) table.length * Integer.BYTES + (long) segmentEnds.length * Integer.BYTES;
    }
}
