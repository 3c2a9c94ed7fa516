package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Inodes that were given another name by this mount, as bits of their hash: 128 KiB, whatever their number. It may name an
 * inode that was not, which then is cached less; it never misses one that was.
 */
final class LinkedInodes {
    private static final int BITS = 1 << 20;

    private final AtomicLongArray words = new AtomicLongArray(BITS / Long.SIZE);

    void add(long inode) {
        int bit = bit(inode);
        words.accumulateAndGet(bit / Long.SIZE, 1L << bit, (word, mask) -> word | mask);
    }

    boolean mayContain(long inode) {
        int bit = bit(inode);
        return (words.get(bit / Long.SIZE) & 1L << bit) != 0;
    }

    /** Neighbouring numbers, made one after the other, get neighbouring bits; those a million apart share one. */
    private static int bit(long inode) {
        return (int) (inode & BITS - 1);
    }
}
