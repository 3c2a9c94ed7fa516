package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A set of the inodes that got another name through this mount, as bits of their hash: 128 KiB for any number of
 * inodes. May contain an inode by mistake, which is then cached less; never misses one.
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

    /**
     * Returns the bit of an inode. Neighbouring numbers, which files made one after another have, get neighbouring
     * bits. Two numbers share a bit if they differ by a multiple of 2^20.
     */
    private static int bit(long inode) {
        return (int) (inode & BITS - 1);
    }
}
