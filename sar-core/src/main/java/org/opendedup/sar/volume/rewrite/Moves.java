package org.opendedup.sar.volume.rewrite;

import com.carrotsearch.hppc.BitMixer;

/**
 * Which chunks have a new copy, and which must not be moved any more. Memory: 8 MiB each, whatever the volume has. For
 * one thread.
 */
final class Moves {
    /** Chunks that stay are remembered with one bit each of this number: so a few others stay, too. */
    private static final int BITS = 26;

    private static final int MAX_FIXED = 6_000_000;

    private final NewCopies copies = new NewCopies();
    private final long[] fixed = new long[1 << (BITS - 6)];
    private int fixedChunks;

    void add(long old, long copy) {
        copies.add(old, copy);
        fix(copy);
    }

    /** Returns the new copies to which not every recipe refers yet. */
    NewCopies copies() {
        return copies;
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
