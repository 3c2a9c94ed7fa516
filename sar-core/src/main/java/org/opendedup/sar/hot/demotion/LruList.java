package org.opendedup.sar.hot.demotion;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.common.ChunkHash;

/**
 * The list of chunks recently read (SAR paper §3.3): 12 bytes per item, in primitive arrays, lost at unmount. Safe for
 * use by many threads.
 *
 * <p>The paper keeps one linked list. Its links would need almost as much memory again as the items, and all readers
 * would contend for one lock. So this is a set-associative list: an item belongs to one of many sets of 16 (up to 31
 * where the number of items is not a multiple of 16), and replaces the least recently read item of its set. Within a
 * set the order is exactly that of the reads; an item may be dropped somewhat earlier or later than from one single
 * list.
 */
public final class LruList {
    private static final int WAYS = 16;
    private static final int LOCKS = 64;
    private static final long EMPTY = 0;
    private static final int ITEM_BYTES = Long.BYTES + Integer.BYTES;

    private final int capacity;
    private final int sets;
    /** Chunk ids, set by set, each from the latest to the earliest read; free places last. */
    private final long[] ids;

    private final int[] lengths;

    private final Object[] locks = new Object[LOCKS];
    private final LongAdder size = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /** @param items largest number of items remembered; 0 for none */
    public LruList(int items) {
        if (items < 0) {
            throw new IllegalArgumentException("the LRU list can't have " + items + " items");
        }
        capacity = items;
        sets = Math.max(1, items / WAYS);
        ids = new long[items];
        lengths = new int[items];
        Arrays.setAll(locks, i -> new Object());
    }

    /**
     * Notes that a chunk was read.
     *
     * @return whether it was in the list already; it is then removed, since it is promoted (SAR paper §3.4)
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
            if (at < to && ids[at] == chunkId) {
                takeOff(at, to);
                return true;
            }
            addFirst(from, Math.min(at, to - 1), chunkId, length);
            return false;
        }
    }

    /** Returns the set to which a chunk belongs. */
    int setOf(long chunkId) {
        return ChunkHash.place(ChunkHash.of(chunkId), sets);
    }

    private int firstOf(int set) {
        return (int) ((long) set * capacity / sets);
    }

    /** Returns the place of the chunk, else the first free place of its set, else the set's end. */
    private int find(int from, int to, long chunkId) {
        int at = from;
        while (at < to && ids[at] != chunkId && ids[at] != EMPTY) {
            at++;
        }
        return at;
    }

    private void takeOff(int at, int to) {
        size.decrement();
        bytes.add(-lengths[at]);
        System.arraycopy(ids, at + 1, ids, at, to - at - 1);
        System.arraycopy(lengths, at + 1, lengths, at, to - at - 1);
        ids[to - 1] = EMPTY;
    }

    /**
     * Puts an item first. Moves the items up to {@code last} by one; {@code last} is a free place or that of the
     * dropped item.
     */
    private void addFirst(int from, int last, long chunkId, int length) {
        if (ids[last] == EMPTY) {
            size.increment();
            bytes.add(length);
        } else if (lengths[last] != length) {
            bytes.add(length - lengths[last]);
        }
        System.arraycopy(ids, from, ids, from + 1, last - from);
        System.arraycopy(lengths, from, lengths, from + 1, last - from);
        ids[from] = chunkId;
        lengths[from] = length;
    }

    /** Returns the number of items remembered. */
    public int size() {
        return size.intValue();
    }

    /** Returns the noted bytes of all items: the most that the SSD would need if all were read again. */
    long bytes() {
        return bytes.sum();
    }

    int capacity() {
        return capacity;
    }

    /** Returns the heap bytes of the items. */
    public long heapBytes() {
        return (long) ITEM_BYTES * capacity;
    }

    /** Removes all items. */
    void clear() {
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
