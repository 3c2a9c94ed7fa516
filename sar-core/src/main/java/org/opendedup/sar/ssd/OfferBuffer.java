package org.opendedup.sar.ssd;

import java.util.Arrays;
import java.util.function.LongConsumer;
import org.opendedup.sar.common.ChunkHash;

/** Chunks on their way to the SSD, with their bytes. A struct of arrays of fixed size, used again. Not safe for threads. */
final class OfferBuffer {
    /** Chunks are of 512 bytes on average at least, or the buffer is full before its bytes are. */
    private static final int BYTES_PER_CHUNK = 512;

    private static final int NONE = 0;

    private final byte[] data;
    private final long[] chunkIds;
    private final int[] checks;
    private final int[] counts;
    private final int[] savings;
    private final int[] ends;
    private final boolean[] withdrawn;
    /** The ids again, by linear probing, at most half full. */
    private final long[] idSet;

    private int count;

    OfferBuffer(int bytes) {
        int chunks = Integer.highestOneBit(bytes / BYTES_PER_CHUNK);
        data = new byte[bytes];
        chunkIds = new long[chunks];
        checks = new int[chunks];
        counts = new int[chunks];
        savings = new int[chunks];
        ends = new int[chunks];
        withdrawn = new boolean[chunks];
        idSet = new long[2 * chunks];
    }

    /** Adds a chunk, copying its bytes; false if there is no room. */
    boolean add(long chunkId, int check, int references, int saving, byte[] source, int offset, int length) {
        int start = bytes();
        if (count == chunkIds.length || data.length - start < length) {
            return false;
        }
        System.arraycopy(source, offset, data, start, length);
        chunkIds[count] = chunkId;
        checks[count] = check;
        counts[count] = references;
        savings[count] = saving;
        ends[count] = start + length;
        count++;
        idSet[find(chunkId)] = chunkId;
        return true;
    }

    boolean contains(long chunkId) {
        return count > 0 && idSet[find(chunkId)] == chunkId;
    }

    private int find(long chunkId) {
        int at = ChunkHash.place(ChunkHash.of(chunkId), idSet.length);
        while (idSet[at] != chunkId && idSet[at] != NONE) {
            at = (at + 1) % idSet.length;
        }
        return at;
    }

    /** Marks a chunk as not wanted any more; false if it is not here. */
    boolean withdraw(long chunkId) {
        if (!contains(chunkId)) {
            return false;
        }
        int i = 0;
        while (chunkIds[i] != chunkId) {
            i++;
        }
        withdrawn[i] = true;
        return true;
    }

    void forEachWithdrawn(LongConsumer visitor) {
        for (int i = 0; i < count; i++) {
            if (withdrawn[i]) {
                visitor.accept(chunkIds[i]);
            }
        }
    }

    void clear() {
        Arrays.fill(withdrawn, 0, count, false);
        count = 0;
        Arrays.fill(idSet, NONE);
    }

    int count() {
        return count;
    }

    /** Bytes of all chunks. */
    int bytes() {
        return count == 0 ? 0 : ends[count - 1];
    }

    byte[] data() {
        return data;
    }

    long chunkId(int i) {
        return chunkIds[i];
    }

    int check(int i) {
        return checks[i];
    }

    int references(int i) {
        return counts[i];
    }

    int saving(int i) {
        return savings[i];
    }

    int offset(int i) {
        return i == 0 ? 0 : ends[i - 1];
    }

    int length(int i) {
        return ends[i] - offset(i);
    }
}
