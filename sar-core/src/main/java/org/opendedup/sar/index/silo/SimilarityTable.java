package org.opendedup.sar.index.silo;

import java.util.Arrays;

/**
 * SiLo's SHTable: leads from the representative fingerprint of a segment to the block that has the segment. An
 * open-addressing table of {@value #ENTRY_BYTES} bytes a place, of which 64 to 80 % are in use: 15 to 19 bytes an
 * entry. Of a representative it keeps 64 bits; two segments that share them by chance cost one needless block read.
 * When it may not grow any more, a new entry replaces another one. Not thread-safe.
 */
final class SimilarityTable {
    /** No block: numbers of blocks begin with 1. */
    static final int NONE = 0;

    static final int ENTRY_BYTES = Long.BYTES + Integer.BYTES;

    /** Parts that grow one at a time, so that growing needs little additional memory. */
    private static final int STRIPES = 16;

    private static final int STRIPE_BITS = 4;
    private static final int FIRST_PLACES = 8;
    private static final double MAX_LOAD = 0.8;

    private final Stripe[] stripes = new Stripe[STRIPES];
    private final int maxPlaces;

    /** @param maxBytes maximum size, in bytes; at least room for {@link #FIRST_PLACES} in each part */
    SimilarityTable(long maxBytes) {
        maxPlaces = (int) Math.min(Integer.MAX_VALUE - 8, Math.max(FIRST_PLACES, maxBytes / ENTRY_BYTES / STRIPES));
        clear();
    }

    /** Returns the block of a representative; {@link #NONE} if there is none. */
    int get(long key) {
        return stripe(key).get(key);
    }

    /** Leads a representative to a block from now on; {@link #NONE} to forget it. */
    void put(long key, int block) {
        stripe(key).put(key, block);
    }

    /** Forgets all representatives that lead to a block. */
    void forget(int block) {
        for (Stripe stripe : stripes) {
            for (int place = 0; place < stripe.blocks.length; place++) {
                stripe.blocks[place] = stripe.blocks[place] == block ? NONE : stripe.blocks[place];
            }
        }
    }

    void clear() {
        Arrays.setAll(stripes, i -> new Stripe());
    }

    /** Returns the number of entries, forgotten ones included. */
    long entries() {
        return Arrays.stream(stripes).mapToLong(stripe -> stripe.count).sum();
    }

    /** Returns the memory of the table, in bytes. */
    long bytes() {
        return Arrays.stream(stripes).mapToLong(stripe -> stripe.keys.length).sum() * ENTRY_BYTES;
    }

    private Stripe stripe(long key) {
        return stripes[(int) key & STRIPES - 1];
    }

    private final class Stripe {
        /** Keys, 0 for a free place. */
        private long[] keys = new long[FIRST_PLACES];

        private int[] blocks = new int[FIRST_PLACES];
        private int count;

        int get(long key) {
            int place = place(key);
            return keys[place] == key ? blocks[place] : NONE;
        }

        void put(long key, int block) {
            int place = place(key);
            if (keys[place] != key && count + 1 > keys.length * MAX_LOAD) {
                if (keys.length < maxPlaces) {
                    grow();
                } else {
                    removeNear(home(key));
                }
                place = place(key);
            }
            count += keys[place] == key ? 0 : 1;
            keys[place] = key;
            blocks[place] = block;
        }

        /** Returns the place of a key, or the free one where it belongs. */
        private int place(long key) {
            int place = home(key);
            while (keys[place] != 0 && keys[place] != key) {
                place = next(place);
            }
            return place;
        }

        /** Removes the first entry from {@code place} on; moves those up that a search would not find otherwise. */
        private void removeNear(int place) {
            int free = place;
            while (keys[free] == 0) {
                free = next(free);
            }
            for (int at = next(free); keys[at] != 0; at = next(at)) {
                int home = home(keys[at]);
                boolean reachesFree = free < at ? home <= free || home > at : home <= free && home > at;
                if (reachesFree) {
                    keys[free] = keys[at];
                    blocks[free] = blocks[at];
                    free = at;
                }
            }
            keys[free] = 0;
            blocks[free] = NONE;
            count--;
        }

        private int next(int place) {
            return place + 1 == keys.length ? 0 : place + 1;
        }

        private int home(long key) {
            // The high bits, spread evenly over any number of places.
            return (int) ((key >>> STRIPE_BITS & 0xffffffffL) * keys.length >>> Integer.SIZE);
        }

        private void grow() {
            long[] oldKeys = keys;
            int[] oldBlocks = blocks;
            int places = (int) Math.min(maxPlaces, Math.max(keys.length + 2L, keys.length * 5L / 4));
            keys = new long[places];
            blocks = new int[places];
            count = 0;
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != 0 && oldBlocks[i] != NONE) {
                    int place = place(oldKeys[i]);
                    keys[place] = oldKeys[i];
                    blocks[place] = oldBlocks[i];
                    count++;
                }
            }
        }
    }
}
