package org.opendedup.sar.restore;

import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Values by positive numbers, without an object for each: open addressing, linear probing. For one thread at a time.
 *
 * @param <V> not null
 */
final class LongMap<V> {
    private static final long FREE = 0;
    private static final int FIRST_CAPACITY = 64;

    /** A power of two long, at most half full. */
    private long[] keys = new long[FIRST_CAPACITY];

    private @Nullable Object[] values = new Object[FIRST_CAPACITY];
    private int size;

    int size() {
        return size;
    }

    @Nullable
    @SuppressWarnings("unchecked")
    V get(long key) {
        return (V) values[placeOf(key)];
    }

    /** Sets the value of a key; returns the one before, if any. */
    @Nullable
    @SuppressWarnings("unchecked")
    V put(long key, V value) {
        int place = placeOf(key);
        Object before = values[place];
        if (before == null) {
            if (2 * (size + 1) > keys.length) {
                grow();
                place = placeOf(key);
            }
            keys[place] = key;
            size++;
        }
        values[place] = value;
        return (V) before;
    }

    /** Removes a key; returns its value, if it had one. */
    @Nullable
    @SuppressWarnings("unchecked")
    V remove(long key) {
        int gap = placeOf(key);
        Object removed = values[gap];
        if (removed == null) {
            return null;
        }
        size--;
        int mask = keys.length - 1;
        // Whatever could not take its own place because this one was taken moves up.
        for (int place = gap + 1 & mask; keys[place] != FREE; place = place + 1 & mask) {
            int home = home(keys[place]);
            if ((place - home & mask) >= (place - gap & mask)) {
                keys[gap] = keys[place];
                values[gap] = values[place];
                gap = place;
            }
        }
        keys[gap] = FREE;
        values[gap] = null;
        return (V) removed;
    }

    void forEachKey(LongConsumer action) {
        for (long key : keys) {
            if (key != FREE) {
                action.accept(key);
            }
        }
    }

    void clear() {
        Arrays.fill(keys, FREE);
        Arrays.fill(values, null);
        size = 0;
    }

    private void grow() {
        long[] oldKeys = keys;
        Object[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new Object[2 * oldKeys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != FREE) {
                int place = placeOf(oldKeys[i]);
                keys[place] = oldKeys[i];
                values[place] = oldValues[i];
            }
        }
    }

    private int placeOf(long key) {
        int mask = keys.length - 1;
        int place = home(key);
        while (keys[place] != key && keys[place] != FREE) {
            place = place + 1 & mask;
        }
        return place;
    }

    private int home(long key) {
        long mixed = key * 0x9E3779B97F4A7C15L;
        return (int) (mixed >>> 32) & keys.length - 1;
    }
}
