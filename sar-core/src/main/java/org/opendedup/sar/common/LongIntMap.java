package org.opendedup.sar.common;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * A map from longs to ints in two primitive arrays: open addressing with linear probing, at most two thirds full.
 * Removing closes the gap (Knuth, vol. 3, algorithm 6.4R), so there are no tombstones and a map of constant size never
 * grows. Any long except -1 may be a key. For one thread at a time.
 */
public final class LongIntMap {
    /** Returned for a key that is not in the map; values are 0 or more. */
    public static final int ABSENT = -1;

    /** Marks a free place. A key is stored as the key plus 1. */
    private static final long FREE = 0;
    /** 2^64 / golden ratio: spreads neighbouring keys over the table (Knuth, vol. 3, 6.4). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private static final int INITIAL_PLACES = 16;

    private long[] keys = new long[INITIAL_PLACES];
    private int[] values = new int[INITIAL_PLACES];
    private int shift = Long.SIZE - Integer.numberOfTrailingZeros(INITIAL_PLACES);
    private int size;

    /** Returns the value of a key, or {@link #ABSENT}. */
    public int get(long key) {
        int place = placeOf(key + 1);
        return keys[place] == FREE ? ABSENT : values[place];
    }

    /** Sets the value of a key. */
    public void put(long key, int value) {
        assert key != -1 && value >= 0 : key + " " + value;
        int place = placeOf(key + 1);
        if (keys[place] == FREE) {
            if (3L * (size + 1) > 2L * keys.length) {
                grow();
                place = placeOf(key + 1);
            }
            keys[place] = key + 1;
            size++;
        }
        values[place] = value;
    }

    /** Removes a key; returns false if it was not in the map. */
    public boolean remove(long key) {
        int gap = placeOf(key + 1);
        if (keys[gap] == FREE) {
            return false;
        }
        int mask = keys.length - 1;
        for (int place = (gap + 1) & mask; keys[place] != FREE; place = (place + 1) & mask) {
            int home = homeOf(keys[place]);
            // The entry may move back to the gap unless its home lies between the two.
            if (((place - home) & mask) >= ((place - gap) & mask)) {
                keys[gap] = keys[place];
                values[gap] = values[place];
                gap = place;
            }
        }
        keys[gap] = FREE;
        size--;
        return true;
    }

    public boolean contains(long key) {
        return keys[placeOf(key + 1)] != FREE;
    }

    /** Removes all keys. */
    public void clear() {
        Arrays.fill(keys, FREE);
        size = 0;
    }

    public int size() {
        return size;
    }

    /** Visits every key, in no particular order. The action must not change the map. */
    public void forEachKey(LongConsumer action) {
        for (long stored : keys) {
            if (stored != FREE) {
                action.accept(stored - 1);
            }
        }
    }

    public long heapBytes() {
        return (long) keys.length * (Long.BYTES + Integer.BYTES);
    }

    /** Returns the place of a key, or the place where it would be put; {@code stored} is the key plus 1. */
    private int placeOf(long stored) {
        int mask = keys.length - 1;
        int place = homeOf(stored);
        while (keys[place] != stored && keys[place] != FREE) {
            place = (place + 1) & mask;
        }
        return place;
    }

    private int homeOf(long stored) {
        return (int) ((stored * SPREAD) >>> shift);
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
