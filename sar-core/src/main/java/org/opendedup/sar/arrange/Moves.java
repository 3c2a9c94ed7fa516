package org.opendedup.sar.arrange;

import com.carrotsearch.hppc.BitMixer;
import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongLongHashMap;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.RecipePage;

/**
 * Which chunks have a new copy, and which must not be moved any more. Memory: 8 MiB each, whatever the volume has. For
 * one thread.
 */
final class Moves {
    /** Most chunks for which references are replaced in one pass over all recipes: 1.6 GB with chunks of 8 KiB. */
    static final int MAX_CHUNKS = 200_000;

    /** Chunks that stay are remembered with one bit each of this number: so a few others stay, too. */
    private static final int BITS = 26;

    private static final int MAX_FIXED = 6_000_000;

    private final LongLongHashMap copies = new LongLongHashMap(MAX_CHUNKS);
    /** Containers of the old copies. Most pages of most recipes name none of them. */
    private final LongHashSet containers = new LongHashSet();

    private final long[] fixed = new long[1 << (BITS - 6)];
    private int fixedChunks;

    void add(long old, long copy) {
        copies.put(old, copy);
        containers.add(ChunkId.container(old));
        fix(copy);
    }

    int count() {
        return copies.size();
    }

    boolean isFull() {
        return copies.size() >= MAX_CHUNKS;
    }

    /** Returns the new copy of a chunk; {@link ChunkId#NONE} if it was not moved. */
    long copyOf(long chunkId) {
        return copies.getOrDefault(chunkId, ChunkId.NONE);
    }

    /** Returns whether a page refers to a chunk that was moved. */
    boolean concern(RecipePage page) {
        long last = 0;
        boolean isOld = false;
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (container != last) {
                last = container;
                isOld = containers.contains(container);
            }
            if (isOld && copies.containsKey(page.chunkId(entry))) {
                return true;
            }
        }
        return false;
    }

    /** Forgets the copies, once references to the old ones are replaced. */
    void clear() {
        copies.clear();
        containers.clear();
    }

    /** Remembers that a chunk stays in its place, because a newer file is read well from there. */
    void fix(long chunkId) {
        int bit = bit(chunkId);
        fixed[bit >>> 6] |= 1L << bit;
        fixedChunks++;
    }

    boolean isFixed(long chunkId) {
        int bit = bit(chunkId);
        return (fixed[bit >>> 6] & 1L << bit) != 0;
    }

    /** Returns whether the bits are used up: with more chunks that stay, most others would stay too. */
    boolean isFixedFull() {
        return fixedChunks >= MAX_FIXED;
    }

    private static int bit(long chunkId) {
        return (int) (BitMixer.mix64(chunkId) >>> (Long.SIZE - BITS));
    }
}
