package org.opendedup.sar.metadata.counts;

import org.jspecify.annotations.Nullable;

/**
 * A hash table from pairs of numbers to values. It is bounded in bytes and evicts by CLOCK (second chance): a hit only
 * sets a bit. Open addressing with linear probing over arrays of primitives, so that a hit allocates nothing. Not safe
 * for use by many threads: its user divides it into shards and locks them.
 */
public final class ClockTable<V> {
    private static final int INITIAL_SLOTS = 16;

    /** Bytes per entry in the table itself: 8 + 8 key, 8 reference, 4 weight, 1 used flag, at a load of 1/2. */
    private static final int ENTRY_BYTES = 58;

    private final long maxBytes;
    private long[] firsts = new long[INITIAL_SLOTS];
    private long[] seconds = new long[INITIAL_SLOTS];
    private @Nullable Object[] values = new Object[INITIAL_SLOTS];
    private int[] weights = new int[INITIAL_SLOTS];
    private boolean[] used = new boolean[INITIAL_SLOTS];
    private int count;
    private long bytes;
    private int hand;

    public ClockTable(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    @SuppressWarnings("unchecked")
    public // only put() fills values
    @Nullable V get(long first, long second) {
        int at = find(first, second);
        used[at] = true;
        return (V) values[at];
    }

    /**
     * Stores a value of {@code heapBytes} bytes and evicts others if needed; a value larger than the bound is not
     * stored.
     */
    public void put(long first, long second, V value, int heapBytes) {
        remove(first, second);
        int weight = heapBytes + ENTRY_BYTES;
        if (weight > maxBytes) {
            return;
        }
        while (bytes + weight > maxBytes) {
            evictOne();
        }
        if (2 * (count + 1) > values.length) {
            grow();
        }
        insert(first, second, value, weight);
    }

    void remove(long first, long second) {
        int at = find(first, second);
        if (values[at] != null) {
            removeAt(at);
        }
    }

    long bytes() {
        return bytes;
    }

    public static long hash(long first, long second) {
        long mixed = (first * 0x9E3779B97F4A7C15L + second) * 0xD6E8FEB86659FD93L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
        return mixed ^ mixed >>> 32;
    }

    /** Returns the slot of the key, or the empty slot where it would be stored. At most half of the slots are used. */
    private int find(long first, long second) {
        int mask = values.length - 1;
        int at = home(first, second);
        while (values[at] != null && (firsts[at] != first || seconds[at] != second)) {
            at = at + 1 & mask;
        }
        return at;
    }

    private int home(long first, long second) {
        return (int) hash(first, second) & values.length - 1;
    }

    private void insert(long first, long second, Object value, int weight) {
        int at = find(first, second);
        firsts[at] = first;
        seconds[at] = second;
        values[at] = value;
        weights[at] = weight;
        used[at] = false;
        count++;
        bytes += weight;
    }

    private void evictOne() {
        while (values[hand] == null || used[hand]) {
            used[hand] = false;
            hand = hand + 1 & values.length - 1;
        }
        removeAt(hand);
    }

    /**
     * Removes an entry and closes the gap, so that probing needs no tombstones: moves entries up that a lookup would
     * not find after the gap.
     */
    private void removeAt(int removed) {
        bytes -= weights[removed];
        count--;
        int mask = values.length - 1;
        int gap = removed;
        for (int at = gap + 1 & mask; values[at] != null; at = at + 1 & mask) {
            int distance = at - home(firsts[at], seconds[at]) & mask;
            if (distance >= (at - gap & mask)) {
                move(at, gap);
                gap = at;
            }
        }
        values[gap] = null;
        used[gap] = false;
    }

    private void move(int from, int to) {
        firsts[to] = firsts[from];
        seconds[to] = seconds[from];
        values[to] = values[from];
        weights[to] = weights[from];
        used[to] = used[from];
    }

    private void grow() {
        long[] oldFirsts = firsts;
        long[] oldSeconds = seconds;
        @Nullable Object[] oldValues = values;
        int[] oldWeights = weights;
        int slots = 2 * oldValues.length;
        firsts = new long[slots];
        seconds = new long[slots];
        values = new Object[slots];
        weights = new int[slots];
        used = new boolean[slots];
        count = 0;
        bytes = 0;
        hand = 0;
        for (int at = 0; at < oldValues.length; at++) {
            Object value = oldValues[at];
            if (value != null) {
                insert(oldFirsts[at], oldSeconds[at], value, oldWeights[at]);
            }
        }
    }
}
