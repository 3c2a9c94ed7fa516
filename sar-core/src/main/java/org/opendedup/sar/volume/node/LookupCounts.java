package org.opendedup.sar.volume.node;

import com.carrotsearch.hppc.LongLongHashMap;

/**
 * The kernel's reference counts of inodes that have no {@link Node}: one byte each, in groups of eight neighbours.
 * Inode numbers are assigned in rising order, so that files found together are mostly neighbours: ten million of them
 * take 30 to 60 MB, where their nodes would take 2.5 GB. A single one takes 21 to 43 bytes. Safe for use by many
 * threads.
 */
final class LookupCounts {
    /** The largest count that can be kept. */
    static final int MAX_COUNT = 255;

    private static final int STRIPES = 16;

    private final Stripe[] stripes = new Stripe[STRIPES];

    LookupCounts() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** Sets the count of an inode: 0 to {@value #MAX_COUNT}; 0 removes it. */
    void set(long inode, int count) {
        if (count < 0 || count > MAX_COUNT) {
            throw new IllegalArgumentException("a count of " + count);
        }
        Stripe stripe = stripe(inode);
        synchronized (stripe) {
            stripe.set(inode, count);
        }
    }

    int get(long inode) {
        Stripe stripe = stripe(inode);
        synchronized (stripe) {
            return stripe.get(inode);
        }
    }

    /** Returns the number of inodes with a count. */
    long size() {
        long size = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                size += stripe.inodes;
            }
        }
        return size;
    }

    private Stripe stripe(long inode) {
        return stripes[(int) ((inode >>> 3) * 0x9e3779b97f4a7c15L >>> 60)];
    }

    /** Some of the groups. Guarded by its monitor. */
    private static final class Stripe {
        /** Eight counts by the number of their group; none of a group without any. */
        private LongLongHashMap groups = new LongLongHashMap();

        private long inodes;

        int get(long inode) {
            return (int) (groups.get(inode >>> 3) >>> shift(inode)) & 0xff;
        }

        void set(long inode, int count) {
            inodes += (count != 0 ? 1 : 0) - (get(inode) != 0 ? 1 : 0);
            long group = inode >>> 3;
            long counts = groups.get(group) & ~(0xffL << shift(inode)) | (long) count << shift(inode);
            if (counts != 0) {
                groups.put(group, counts);
            } else if (inodes > 0) {
                groups.remove(group);
            } else {
                groups = new LongLongHashMap(); // A map never gets smaller.
            }
        }

        private static int shift(long inode) {
            return 8 * ((int) inode & 7);
        }
    }
}
