package org.opendedup.sar.sim.block;

import java.util.Arrays;

/**
 * Hash map from numbers to small numbers, in one array, so that a key and its value share a line of memory: 12 bytes a
 * place, at most two thirds of them in use. Open addressing with linear probing; deleting moves back the entries that
 * follow (Knuth, TAOCP 3, 6.4, algorithm R). For one thread.
 */
public final class LongIntMap {
    /** Result of {@link #get} for an absent key; never a value. */
    public static final int ABSENT = -1;

    private static final int LEAST_PLACES = 1024;
    /** Integers of a place: the key's halves, and the value, which is {@link #ABSENT} if the place is free. */
    private static final int PLACE_INTS = 3;

    private static final int VALUE = 2;

    private int[] table = emptyTable(LEAST_PLACES);
    private int mask = LEAST_PLACES - 1;
    private int size;

    private static int[] emptyTable(int places) {
        int[] table = new int[Math.multiplyExact(places, PLACE_INTS)];
        Arrays.fill(table, ABSENT);
        return table;
    }

    /** Returns the value of a key, or {@link #ABSENT}. */
    public int get(long key) {
        return table[find(key) + VALUE];
    }

    /** Adds or replaces a value, which must not be negative. */
    public void put(long key, int value) {
        assert value >= 0 : value;
        int at = find(key);
        if (table[at + VALUE] == ABSENT) {
            if (size + 1 > (mask + 1) / 3 * 2) {
                grow();
                at = find(key);
            }
            size++;
        }
        set(at, key, value);
    }

    /** Removes a key, if it is present. */
    public void remove(long key) {
        int hole = find(key);
        if (table[hole + VALUE] == ABSENT) {
            return;
        }
        int holePlace = hole / PLACE_INTS;
        for (int i = holePlace + 1 & mask; value(i) != ABSENT; i = i + 1 & mask) {
            int home = home(key(PLACE_INTS * i));
            // The entry may move to the hole if its home is not between the hole and its place.
            if ((i - home & mask) >= (i - holePlace & mask)) {
                System.arraycopy(table, PLACE_INTS * i, table, PLACE_INTS * holePlace, PLACE_INTS);
                holePlace = i;
            }
        }
        table[PLACE_INTS * holePlace + VALUE] = ABSENT;
        size--;
    }

    public int size() {
        return size;
    }

    /** Returns the size of the table in heap bytes. */
    public long heapBytes() {
        return (long) Integer.BYTES * table.length;
    }

    /** Returns the index of a key's place, or of the free place where the key belongs. */
    private int find(long key) {
        int place = home(key);
        int at = PLACE_INTS * place;
        while (table[at + VALUE] != ABSENT && key(at) != key) {
            place = place + 1 & mask;
            at = PLACE_INTS * place;
        }
        return at;
    }

    private int home(long key) {
        return (int) Mixing.mix(key) & mask;
    }

    private int value(int place) {
        return table[PLACE_INTS * place + VALUE];
    }

    private long key(int at) {
        return (long) table[at + 1] << Integer.SIZE | Integer.toUnsignedLong(table[at]);
    }

    private void set(int at, long key, int value) {
        table[at] = (int) key;
        table[at + 1] = (int) (key >>> Integer.SIZE);
        table[at + VALUE] = value;
    }

    private void grow() {
        int[] old = table;
        table = emptyTable(2 * (mask + 1));
        mask = 2 * mask + 1;
        for (int at = 0; at < old.length; at += PLACE_INTS) {
            if (old[at + VALUE] != ABSENT) {
                long key = (long) old[at + 1] << Integer.SIZE | Integer.toUnsignedLong(old[at]);
                set(find(key), key, old[at + VALUE]);
            }
        }
    }
}
