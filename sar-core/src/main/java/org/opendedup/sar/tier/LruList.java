package org.opendedup.sar.tier;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.common.ChunkHash;

/**
 * The chunks lately read from the disk (SAR paper §3.3): 16 bytes an item, in primitive arrays, lost at unmount. Safe for use
 * by many threads.
 *
 * <p>The paper keeps one list. Its links would take as much memory again as the items, and one lock would meet every reader. So
 * this is a set-associative list: an item belongs to one of many sets of 16 (up to 31 where the number of items is no multiple
 * of 16), and the least recently read of its set makes room for it. Within a set the order is exactly that of the readings; over
 * the whole, an item may leave somewhat earlier or later than it would leave one list.
 */
public final class LruList {
    private static final int WAYS = 16;
    private static final int LOCKS = 64;
    private static final long EMPTY = 0;
    private static final int ITEM_BYTES = Long.BYTES + 2 * Integer.BYTES;

    private final int capacity;
    private final int sets;
    private final long[] ids;
    private final int[] lengths;

    /**
     * How many items of its set were read after this one: a set's n items have the ages 0 to n - 1. Ages are small numbers for
     * ever, where a clock would overflow one day.
     */
    private final int[] ages;

    private final Object[] locks = new Object[LOCKS];
    private final LongAdder size = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder hits = new LongAdder();

    /** @param items the most it remembers; 0: nothing */
    public LruList(int items) {
        if (items < 0) {
            throw new IllegalArgumentException("the LRU list can't have " + items + " items");
        }
        capacity = items;
        sets = Math.max(1, items / WAYS);
        ids = new long[items];
        lengths = new int[items];
        ages = new int[items];
        Arrays.setAll(locks, i -> new Object());
    }

    /**
     * Notes that a chunk was read from the disk.
     *
     * @return whether it was in the list already; it is then taken off, since it is promoted (SAR paper §3.4)
     */
    public boolean noteRead(long chunkId, int length) {
        if (capacity == 0) {
            return false;
        }
        int set = setOf(chunkId);
        int from = firstOf(set);
        int to = firstOf(set + 1);
        synchronized (locks[set % LOCKS]) {
            int at = find(from, to, chunkId);
            if (at >= 0) {
                takeOff(from, to, at);
                hits.increment();
                return true;
            }
            add(from, to, chunkId, length);
            return false;
        }
    }

    /** The set a chunk belongs to. */
    int setOf(long chunkId) {
        return ChunkHash.place(ChunkHash.of(chunkId), sets);
    }

    private int firstOf(int set) {
        return (int) ((long) set * capacity / sets);
    }

    private int find(int from, int to, long chunkId) {
        for (int i = from; i < to; i++) {
            if (ids[i] == chunkId) {
                return i;
            }
        }
        return -1;
    }

    private void takeOff(int from, int to, int at) {
        for (int i = from; i < to; i++) {
            if (ids[i] != EMPTY && ages[i] > ages[at]) {
                ages[i]--;
            }
        }
        ids[at] = EMPTY;
        size.decrement();
        bytes.add(-lengths[at]);
    }

    private void add(int from, int to, long chunkId, int length) {
        int place = find(from, to, EMPTY);
        if (place < 0) {
            place = oldest(from, to);
            takeOff(from, to, place);
        }
        for (int i = from; i < to; i++) {
            ages[i]++;
        }
        ids[place] = chunkId;
        lengths[place] = length;
        ages[place] = 0;
        size.increment();
        bytes.add(length);
    }

    private int oldest(int from, int to) {
        int oldest = from;
        for (int i = from + 1; i < to; i++) {
            if (ages[i] > ages[oldest]) {
                oldest = i;
            }
        }
        return oldest;
    }

    /** Items remembered. */
    public int size() {
        return size.intValue();
    }

    /** Bytes of the items remembered, as they were noted: what the SSD would take at most if all were read again. */
    public long bytes() {
        return bytes.sum();
    }

    public int capacity() {
        return capacity;
    }

    /** Heap bytes of the items. */
    public long heapBytes() {
        return (long) ITEM_BYTES * capacity;
    }

    /** Second reads found. */
    public long hits() {
        return hits.sum();
    }

    /** Forgets all items. */
    public void clear() {
        for (int set = 0; set < sets; set++) {
            synchronized (locks[set % LOCKS]) {
                for (int i = firstOf(set); i < firstOf(set + 1); i++) {
                    if (ids[i] != EMPTY) {
                        ids[i] = EMPTY;
                        size.decrement();
                        bytes.add(-lengths[i]);
                    }
                }
            }
        }
    }
}
