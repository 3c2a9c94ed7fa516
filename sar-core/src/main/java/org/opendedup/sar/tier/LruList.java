package org.opendedup.sar.tier;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.common.ChunkHash;

/**
 * The chunks lately read from the disk (SAR paper §3.3): 12 bytes an item, in primitive arrays, lost at unmount. Safe for use
 * by many threads.
 *
 * <p>The paper keeps one list. Its links would take almost as much memory again as the items, and one lock would meet every reader. So
 * this is a set-associative list: an item belongs to one of many sets of 16 (up to 31 where the number of items is no multiple
 * of 16), and the least recently read of its set makes room for it. Within a set the order is exactly that of the readings; over
 * the whole, an item may leave somewhat earlier or later than it would leave one list.
 */
public final class LruList {
    private static final int WAYS = 16;
    private static final int LOCKS = 64;
    private static final long EMPTY = 0;
    private static final int ITEM_BYTES = Long.BYTES + Integer.BYTES;

    private final int capacity;
    private final int sets;
    /** Set by set, each from the latest to the earliest read; free places last. */
    private final long[] ids;

    private final int[] lengths;

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
            if (at < to && ids[at] == chunkId) {
                takeOff(at, to);
                return true;
            }
            addFirst(from, Math.min(at, to - 1), chunkId, length);
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

    /** Where the chunk is, else the first free place of its set, else the set's end. */
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
        hits.increment();
        System.arraycopy(ids, at + 1, ids, at, to - at - 1);
        System.arraycopy(lengths, at + 1, lengths, at, to - at - 1);
        ids[to - 1] = EMPTY;
    }

    /** Puts an item first; those up to {@code last}, a free place or that of the item that leaves, move by one. */
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
