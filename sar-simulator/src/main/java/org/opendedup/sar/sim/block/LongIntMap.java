package org.opendedup.sar.sim.block;

import java.util.Arrays;

/**
 * From numbers to small numbers, in two arrays: 12 bytes a place, at most two thirds of them in use. Open addressing with linear
 * probing; deleting moves what follows back (Knuth, TAOCP 3, 6.4, algorithm R). For one thread.
 */
public final class LongIntMap {
    /** What {@link #get} answers for an absent key; no value. */
    public static final int ABSENT = -1;

    private static final int LEAST_PLACES = 1024;
    private static final int PLACE_BYTES = Long.BYTES + Integer.BYTES;

    private long[] keys = new long[LEAST_PLACES];
    /** {@link #ABSENT} where a place is free. */
    private int[] values = new int[LEAST_PLACES];

    private int size;

    public LongIntMap() {
        Arrays.fill(values, ABSENT);
    }

    /** The value of a key, or {@link #ABSENT}. */
    public int get(long key) {
        return values[find(key)];
    }

    /** Adds or replaces; the value must not be negative. */
    public void put(long key, int value) {
        assert value >= 0 : value;
        int at = find(key);
        if (values[at] == ABSENT) {
            if (size + 1 > keys.length / 3 * 2) {
                grow();
                at = find(key);
            }
            size++;
        }
        keys[at] = key;
        values[at] = value;
    }

    /** Removes a key, if it is there. */
    public void remove(long key) {
        int hole = find(key);
        if (values[hole] == ABSENT) {
            return;
        }
        int mask = keys.length - 1;
        for (int i = hole + 1 & mask; values[i] != ABSENT; i = i + 1 & mask) {
            int home = home(keys[i]);
            // It may stand in the hole if its home is not between the hole and its place.
            if ((i - home & mask) >= (i - hole & mask)) {
                keys[hole] = keys[i];
                values[hole] = values[i];
                hole = i;
            }
        }
        values[hole] = ABSENT;
        size--;
    }

    public int size() {
        return size;
    }

    /** Heap bytes. */
    public long heapBytes() {
        return (long) PLACE_BYTES * keys.length;
    }

    /** The place of a key, or the free one where it belongs. */
    private int find(long key) {
        int mask = keys.length - 1;
        int at = home(key);
        while (values[at] != ABSENT && keys[at] != key) {
            at = at + 1 & mask;
        }
        return at;
    }

    private int home(long key) {
        return (int) Mixing.mix(key) & keys.length - 1;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new int[2 * oldKeys.length];
        Arrays.fill(values, ABSENT);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != ABSENT) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                values[at] = oldValues[i];
            }
        }
    }
}
