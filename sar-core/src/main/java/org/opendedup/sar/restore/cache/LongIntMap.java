package org.opendedup.sar.restore.cache;

import java.util.Arrays;

/**
 * From positive longs to ints, in two primitive arrays: open addressing with linear probing, at most two thirds full. Removing closes the
 * gap (Knuth, vol. 3, algorithm 6.4R), so that there are no tombstones and a map of steady size never grows.
 */
final class LongIntMap {
    /** Answers for a key that is not there; values are 0 or more. */
    static final int ABSENT = -1;

    private static final long FREE = 0;
    /** 2^64 / golden ratio: spreads neighbouring keys over the table (Knuth, vol. 3, 6.4). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private static final int INITIAL_PLACES = 16;

    private long[] keys = new long[INITIAL_PLACES];
    private int[] values = new int[INITIAL_PLACES];
    private int shift = Long.SIZE - Integer.numberOfTrailingZeros(INITIAL_PLACES);
    private int size;

    int get(long key) {
        int place = placeOf(key);
        return keys[place] == key ? values[place] : ABSENT;
    }

    void put(long key, int value) {
        assert key > 0 && value >= 0 : key + " " + value;
        int place = placeOf(key);
        if (keys[place] == FREE) {
            if (3 * (size + 1) > 2 * keys.length) {
                grow();
                place = placeOf(key);
            }
            keys[place] = key;
            size++;
        }
        values[place] = value;
    }

    /** Removes a key that is there. */
    void remove(long key) {
        int gap = placeOf(key);
        assert keys[gap] == key : key;
        int mask = keys.length - 1;
        for (int place = (gap + 1) & mask; keys[place] != FREE; place = (place + 1) & mask) {
            int home = homeOf(keys[place]);
            // It may move back to the gap unless its home lies between the two.
            if (((place - home) & mask) >= ((place - gap) & mask)) {
                keys[gap] = keys[place];
                values[gap] = values[place];
                gap = place;
            }
        }
        keys[gap] = FREE;
        size--;
    }

    boolean contains(long key) {
        return keys[placeOf(key)] == key;
    }

    /** Removes all keys. */
    void clear() {
        Arrays.fill(keys, FREE);
        size = 0;
    }

    int size() {
        return size;
    }

    long heapBytes() {
        return (long) keys.length * (Long.BYTES + Integer.BYTES);
    }

    /** Where a key is, or would be put. */
    private int placeOf(long key) {
        int mask = keys.length - 1;
        int place = homeOf(key);
        while (keys[place] != key && keys[place] != FREE) {
            place = (place + 1) & mask;
        }
        return place;
    }

    private int homeOf(long key) {
        return (int) ((key * SPREAD) >>> shift);
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldValues = values;
        keys = new long[oldKeys.length * 2];
        values = new int[oldKeys.length * 2];
        shift--;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != FREE) {
                int place = placeOf(oldKeys[i]);
                keys[place] = oldKeys[i];
                values[place] = oldValues[i];
            }
        }
    }
}
