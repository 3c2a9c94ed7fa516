package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/**
 * The recipe of one page of a file: the chunk references that make up its bytes, in order, without gaps from the page's
 * first byte on; the rest of the page after the last entry is a hole. Immutable; a struct of arrays. Entry {@code i}
 * stands for {@code length(i)} bytes, from byte {@code chunkOffset(i)} of chunk {@code chunkId(i)}, or for
 * {@code length(i)} zero bytes if that is {@link ChunkId#NONE}.
 */
public final class RecipePage {
    /** A page that consists of one hole. */
    public static final RecipePage EMPTY = new RecipePage(new long[0], new int[0], new int[0], new int[0], 0);

    private final long[] chunkIds;
    private final int[] chunkOffsets;
    private final int[] fingerprintPrefixes;
    /** {@code ends[i]}: offset in the page, in bytes, one past entry {@code i}. */
    private final int[] ends;
    /** See {@link Births}. */
    private final long birth;

    private RecipePage(long[] chunkIds, int[] chunkOffsets, int[] fingerprintPrefixes, int[] ends, long birth) {
        this.chunkIds = chunkIds;
        this.chunkOffsets = chunkOffsets;
        this.fingerprintPrefixes = fingerprintPrefixes;
        this.ends = ends;
        this.birth = birth;
    }

    /** Returns the number of the first snapshot that can have this page's record; see {@link Births}. */
    public long birth() {
        return birth;
    }

    /** Returns this page as a record with another birth. */
    public RecipePage bornIn(long newBirth) {
        return birth == newBirth ? this : new RecipePage(chunkIds, chunkOffsets, fingerprintPrefixes, ends, newBirth);
    }

    /** Returns the number of entries. */
    public int count() {
        return ends.length;
    }

    public long chunkId(int entry) {
        return chunkIds[entry];
    }

    public boolean isZero(int entry) {
        return chunkIds[entry] == ChunkId.NONE;
    }

    public int chunkOffset(int entry) {
        return chunkOffsets[entry];
    }

    /** Returns the first four bytes of the chunk's fingerprint; 0 for zero bytes. */
    public int fingerprintPrefix(int entry) {
        return fingerprintPrefixes[entry];
    }

    /** Returns the offset in the page of the entry's first byte. */
    public int start(int entry) {
        return entry == 0 ? 0 : ends[entry - 1];
    }

    public int end(int entry) {
        return ends[entry];
    }

    public int length(int entry) {
        return ends[entry] - start(entry);
    }

    /** Returns the number of bytes described: the offset at which the hole after the last entry begins. */
    public int bytes() {
        return ends.length == 0 ? 0 : ends[ends.length - 1];
    }

    /** Returns the number of bytes that are in chunks; the others are zero runs. */
    public int dataBytes() {
        int bytes = 0;
        for (int entry = 0; entry < count(); entry++) {
            bytes += isZero(entry) ? 0 : length(entry);
        }
        return bytes;
    }

    /**
     * Returns the entry that contains the byte at {@code offset} in the page, or {@link #count()} if the byte is in the
     * hole after the last entry.
     */
    public int entryAt(int offset) {
        int found = Arrays.binarySearch(ends, offset);
        // ends are exclusive: an exact match of an end is the first byte of the next entry.
        return found >= 0 ? found + 1 : -found - 1;
    }

    /** Returns the offset of the first byte from {@code offset} on that is in a chunk; -1 if there is none. */
    public int nextData(int offset) {
        for (int entry = entryAt(offset); entry < count(); entry++) {
            if (!isZero(entry)) {
                return Math.max(offset, start(entry));
            }
        }
        return -1;
    }

    /**
     * Returns the offset of the first byte from {@code offset} on that is in no chunk; it may be the one after the last
     * entry.
     */
    public int nextHole(int offset) {
        int entry = entryAt(offset);
        while (entry < count() && !isZero(entry)) {
            entry++;
        }
        return Math.max(offset, entry < count() ? start(entry) : bytes());
    }

    /** Returns the approximate heap bytes of this page: 20 per entry, four array headers, the object and its birth. */
    public int heapBytes() {
        return 108 + 20 * ends.length;
    }

    /** Collects the entries of a page. Adjacent zero runs are joined. */
    public static final class Builder {
        private long[] chunkIds = new long[64];
        private int[] chunkOffsets = new int[64];
        private int[] fingerprintPrefixes = new int[64];
        private int[] ends = new int[64];
        private int count;

        /** Adds a reference to {@code length} bytes of a chunk, or to zeros with {@link ChunkId#NONE}. */
        public Builder add(long chunkId, int chunkOffset, int length, int fingerprintPrefix) {
            assert length > 0 : length;
            if (chunkId == ChunkId.NONE && count > 0 && chunkIds[count - 1] == ChunkId.NONE) {
                ends[count - 1] += length;
                return this;
            }
            if (count == ends.length) {
                chunkIds = Arrays.copyOf(chunkIds, count * 2);
                chunkOffsets = Arrays.copyOf(chunkOffsets, count * 2);
                fingerprintPrefixes = Arrays.copyOf(fingerprintPrefixes, count * 2);
                ends = Arrays.copyOf(ends, count * 2);
            }
            chunkIds[count] = chunkId;
            chunkOffsets[count] = chunkId == ChunkId.NONE ? 0 : chunkOffset;
            fingerprintPrefixes[count] = chunkId == ChunkId.NONE ? 0 : fingerprintPrefix;
            ends[count] = bytes() + length;
            count++;
            return this;
        }

        /**
         * Adds bytes {@code from} to {@code to} of another page (offsets in that page); its trailing hole counts as
         * zeros. A chunk that was cut by a page border becomes one entry again where its parts meet.
         */
        public Builder addRange(RecipePage page, int from, int to) {
            int at = from;
            for (int entry = page.entryAt(from); entry < page.count() && at < to; entry++) {
                int end = Math.min(to, page.end(entry));
                int chunkOffset = page.chunkOffset(entry) + at - page.start(entry);
                if (at == from && continues(page.chunkId(entry), chunkOffset)) {
                    ends[count - 1] += end - at;
                } else {
                    add(page.chunkId(entry), chunkOffset, end - at, page.fingerprintPrefix(entry));
                }
                at = end;
            }
            if (at < to) {
                add(ChunkId.NONE, 0, to - at, 0);
            }
            return this;
        }

        /** Returns whether the last entry ends where this part of a chunk begins. */
        private boolean continues(long chunkId, int chunkOffset) {
            if (count == 0 || chunkId == ChunkId.NONE || chunkIds[count - 1] != chunkId) {
                return false;
            }
            int length = ends[count - 1] - (count == 1 ? 0 : ends[count - 2]);
            return chunkOffsets[count - 1] + length == chunkOffset;
        }

        public int bytes() {
            return count == 0 ? 0 : ends[count - 1];
        }

        /** Returns the page; trailing zeros become part of the hole after the last entry. Leaves this builder empty. */
        public RecipePage build() {
            if (count > 0 && chunkIds[count - 1] == ChunkId.NONE) {
                count--;
            }
            RecipePage page = new RecipePage(
                    Arrays.copyOf(chunkIds, count),
                    Arrays.copyOf(chunkOffsets, count),
                    Arrays.copyOf(fingerprintPrefixes, count),
                    Arrays.copyOf(ends, count),
                    0);
            count = 0;
            return page;
        }
    }
}
