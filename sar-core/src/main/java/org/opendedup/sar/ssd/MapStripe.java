package org.opendedup.sar.ssd;

import org.opendedup.sar.common.ChunkHash;

/**
 * A part of the {@link MapTable}: open addressing with linear probing in three arrays, 20 bytes a place. A removal
 * moves the following entries back (Knuth, TAOCP 3, 6.4, algorithm R), so no tombstones lengthen the probes. Not
 * thread-safe: the table locks it.
 */
final class MapStripe {
    /** Bytes of a place: two longs, one int. */
    static final int PLACE_BYTES = 2 * Long.BYTES + Integer.BYTES;

    /** Bytes of the headers of the three arrays, and of this object with its references. */
    static final int FIXED_BYTES = 3 * 16 + 40;

    /** Load above which the stripe grows: a probe for an absent id then examines 50 adjacent places on average. */
    private static final double MAX_LOAD = 0.90;

    /** Load after a resize, which grows by a sixteenth: 20 / 0.845 is 23.7 bytes an entry. */
    private static final double LOAD = 0.845;

    /** Load below which the stripe shrinks. */
    private static final double MIN_LOAD = 0.75;

    private static final int MIN_PLACES = 16;

    private static final long EMPTY = 0;

    private long[] ids = new long[MIN_PLACES];
    private long[] places = new long[MIN_PLACES];
    private int[] worths = new int[MIN_PLACES];

    /** Read without the lock for sums over all stripes. */
    private volatile int size;

    int size() {
        return size;
    }

    int capacity() {
        return ids.length;
    }

    /** Returns the place of a chunk's entry, or -1. */
    int find(long hash, long chunkId) {
        int at = ChunkHash.place(hash, ids.length);
        while (ids[at] != chunkId) {
            if (ids[at] == EMPTY) {
                return -1;
            }
            at = next(at);
        }
        return at;
    }

    long id(int at) {
        return ids[at];
    }

    boolean isEmpty(int at) {
        return ids[at] == EMPTY;
    }

    long packedPlace(int at) {
        return places[at];
    }

    int packedWorth(int at) {
        return worths[at];
    }

    void set(int at, long place, int worth) {
        places[at] = place;
        worths[at] = worth;
    }

    /** Adds an entry; its chunk must not have one. */
    void add(long hash, long chunkId, long place, int worth) {
        if (size + 1 > (int) (ids.length * MAX_LOAD)) {
            rehash(size + 1);
        }
        insert(hash, chunkId, place, worth);
        size = size + 1;
    }

    private void insert(long hash, long chunkId, long place, int worth) {
        int at = ChunkHash.place(hash, ids.length);
        while (ids[at] != EMPTY) {
            at = next(at);
        }
        ids[at] = chunkId;
        set(at, place, worth);
    }

    /** Removes the entry at a place; other entries may move. */
    void removeAt(int at) {
        int hole = at;
        for (int i = next(at); ids[i] != EMPTY; i = next(i)) {
            int home = ChunkHash.place(ChunkHash.of(ids[i]), ids.length);
            if (mayMove(home, hole, i)) {
                ids[hole] = ids[i];
                set(hole, places[i], worths[i]);
                hole = i;
            }
        }
        ids[hole] = EMPTY;
        size = size - 1;
        if (ids.length > MIN_PLACES && size < (int) (ids.length * MIN_LOAD)) {
            rehash(size);
        }
    }

    /**
     * Returns whether an entry at {@code at} is still found if it is moved to the hole: its home is not between the
     * two.
     */
    private static boolean mayMove(int home, int hole, int at) {
        return hole <= at ? home <= hole || home > at : home <= hole && home > at;
    }

    private int next(int at) {
        int next = at + 1;
        return next == ids.length ? 0 : next;
    }

    private void rehash(int entries) {
        int capacity = Math.max(MIN_PLACES, (int) (entries / LOAD) + 1);
        if (capacity == ids.length) {
            return;
        }
        long[] oldIds = ids;
        long[] oldPlaces = places;
        int[] oldWorths = worths;
        ids = new long[capacity];
        places = new long[capacity];
        worths = new int[capacity];
        for (int i = 0; i < oldIds.length; i++) {
            if (oldIds[i] != EMPTY) {
                insert(ChunkHash.of(oldIds[i]), oldIds[i], oldPlaces[i], oldWorths[i]);
            }
        }
    }

    /** Halves the heat of every entry. */
    void halveHeat() {
        for (int i = 0; i < places.length; i++) {
            places[i] = PackedEntry.withHeat(places[i], PackedEntry.heat(places[i]) >>> 1);
        }
    }

    /** Returns a copy that can be read without a lock. */
    MapStripe copy() {
        MapStripe copy = new MapStripe();
        copy.ids = ids.clone();
        copy.places = places.clone();
        copy.worths = worths.clone();
        copy.size = size;
        return copy;
    }

    long heapBytes() {
        return (long) PLACE_BYTES * ids.length + FIXED_BYTES;
    }
}
