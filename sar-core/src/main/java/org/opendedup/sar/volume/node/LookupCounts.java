package org.opendedup.sar.volume.node;

import com.carrotsearch.hppc.LongLongHashMap;

/**
 * The kernel's reference counts of inodes that have no {@link Node}: one byte each, in groups of eight neighbours.
 * Inode numbers are assigned in rising order, so that files found together are mostly neighbours: ten million of them
 * take 30 to 60 MB, where their nodes would take 2.5 GB. A single one takes 21 to 43 bytes, and so does, in addition, a
 * count of more than 255: the kernel counts each listing of a folder that has changed. Safe for use by many threads.
 */
final class LookupCounts {
    private static final int STRIPES = 16;

    private final Stripe[] stripes = new Stripe[STRIPES];

    LookupCounts() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** Sets the count of an inode; 0 removes it. */
    void set(long inode, long count) {
        if (count < 0) {
            throw new IllegalArgumentException("a count of " + count);
        }
        Stripe stripe = stripe(inode);
        synchronized (stripe) {
            stripe.set(inode, count);
        }
    }

    long get(long inode) {
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
        /** The lowest bytes of eight counts by the number of their group; none of a group in which all are 0. */
        private LongLongHashMap groups = new LongLongHashMap();
        /** The other bytes of a count by its inode; none if they are 0. */
        private LongLongHashMap others = new LongLongHashMap();

        private long inodes;

        long get(long inode) {
            return others.get(inode) << 8 | groups.get(inode >>> 3) >>> shift(inode) & 0xff;
        }

        void set(long inode, long count) {
            inodes += (count != 0 ? 1 : 0) - (get(inode) != 0 ? 1 : 0);
            long group = inode >>> 3;
            long lowest = groups.get(group) & ~(0xffL << shift(inode)) | (count & 0xff) << shift(inode);
            groups = with(groups, group, lowest);
            others = with(others, inode, count >>> 8);
        }

        /** Returns the map with a value; 0 removes it. */
        private static LongLongHashMap with(LongLongHashMap map, long key, long value) {
            if (value != 0) {
                map.put(key, value);
                return map;
            }
            boolean wasThere = map.remove(key) != 0;
            return wasThere && map.isEmpty() ? new LongLongHashMap() : map; // A map never gets smaller.
        }

        private static int shift(long inode) {
            return 8 * ((int) inode & 7);
        }
    }
}
