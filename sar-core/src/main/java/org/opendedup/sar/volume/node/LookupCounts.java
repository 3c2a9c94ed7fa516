package org.opendedup.sar.volume.node;

/**
 * The kernel's reference counts of inodes that have no {@link Node}: one byte each, in groups of sixteen neighbours.
 * Inode numbers are assigned in rising order, so that files found together are mostly neighbours: ten million of them
 * take 30 to 60 MB, where their nodes would take 2.5 GB. A single one takes 32 to 64 bytes. Safe for use by many
 * threads.
 *
 * <p>Each stripe is a hash table with linear probing, at most three quarters full.
 */
final class LookupCounts {
    /** The largest count that can be kept. */
    static final int MAX_COUNT = 255;

    private static final int STRIPES = 16;
    private static final int MIN_CAPACITY = 64;

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
            stripe.set(inode >>> 4, (int) inode & 15, count);
        }
    }

    int get(long inode) {
        Stripe stripe = stripe(inode);
        synchronized (stripe) {
            return stripe.get(inode >>> 4, (int) inode & 15);
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
        return stripes[(int) (hash(inode >>> 4) >>> 60)];
    }

    private static long hash(long group) {
        long mixed = group * 0x9e3779b97f4a7c15L;
        return mixed ^ mixed >>> 29;
    }

    /** One of the hash tables: holds some of the groups. Guarded by its monitor. */
    private static final class Stripe {
        /**
         * Three words per slot: the group's number, and two words of eight counts each. A slot without counts is free.
         */
        private long[] slots = new long[3 * MIN_CAPACITY];

        private int groups;
        private long inodes;

        int get(long group, int member) {
            int slot = find(group);
            return (int) (slots[3 * slot + 1 + (member >> 3)] >>> 8 * (member & 7)) & 0xff;
        }

        void set(long group, int member, int count) {
            int slot = find(group);
            boolean wasFree = isFree(slot);
            int word = 3 * slot + 1 + (member >> 3);
            int shift = 8 * (member & 7);
            boolean had = (slots[word] >>> shift & 0xff) != 0;
            slots[3 * slot] = group;
            slots[word] = slots[word] & ~(0xffL << shift) | (long) count << shift;
            inodes += (count != 0 ? 1 : 0) - (had ? 1 : 0);
            boolean free = isFree(slot);
            if (wasFree && !free) {
                groups++;
                growIfFull();
            } else if (!wasFree && free) {
                groups--;
                closeGap(slot);
                shrinkIfEmpty();
            }
        }

        private int capacity() {
            return slots.length / 3;
        }

        private boolean isFree(int slot) {
            return (slots[3 * slot + 1] | slots[3 * slot + 2]) == 0;
        }

        private int home(long group) {
            return (int) hash(group) & capacity() - 1;
        }

        /** Returns the slot of the group, or the free slot where it would be put. */
        private int find(long group) {
            int slot = home(group);
            while (!isFree(slot) && slots[3 * slot] != group) {
                slot = slot + 1 & capacity() - 1;
            }
            return slot;
        }

        /** Fills a slot that became free with later groups whose probe sequence passes it. */
        private void closeGap(int freed) {
            int gap = freed;
            int slot = gap + 1 & capacity() - 1;
            while (!isFree(slot)) {
                int distance = slot - home(slots[3 * slot]) & capacity() - 1;
                if (distance >= (slot - gap & capacity() - 1)) {
                    System.arraycopy(slots, 3 * slot, slots, 3 * gap, 3);
                    slots[3 * slot + 1] = 0;
                    slots[3 * slot + 2] = 0;
                    gap = slot;
                }
                slot = slot + 1 & capacity() - 1;
            }
        }

        private void growIfFull() {
            if (groups > capacity() / 4 * 3) {
                rehash(2 * capacity());
            }
        }

        private void shrinkIfEmpty() {
            if (capacity() > MIN_CAPACITY && groups < capacity() / 8) {
                rehash(capacity() / 2);
            }
        }

        private void rehash(int capacity) {
            long[] old = slots;
            slots = new long[3 * capacity];
            for (int at = 0; at < old.length; at += 3) {
                if ((old[at + 1] | old[at + 2]) != 0) {
                    System.arraycopy(old, at, slots, 3 * find(old[at]), 3);
                }
            }
        }
    }
}
