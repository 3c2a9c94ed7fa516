package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;

/**
 * The part of a recipe that a reader has passed and not used yet (lookahead paper §3.3), by chunk or by container.
 * References enter at the head; the reference at the tail is current; the window slides by one reference. For each key
 * it returns the next reference. The references of one key are chained, and a map leads to the first and the last of
 * them, so that a slide costs one or two map lookups, however large the window is.
 *
 * <p>A <em>position</em> is the number of a reference in the recipe. A key with references in the window has an
 * <em>entry</em>, a small number that can be used as an array index; it is reused for another key when the last
 * reference has left.
 */
final class LookaheadWindow {
    /** Means that a key has no entry. */
    static final int NONE = -1;

    private static final int INITIAL = 64;

    private final LongIntHashMap entries = new LongIntHashMap();
    // Arrays indexed by entry.
    private long[] keys = new long[INITIAL];
    private long[] next = new long[INITIAL];
    private long[] last = new long[INITIAL];
    /** The entry freed last, or {@link #NONE}; its {@code next} is the entry freed previously. */
    private int freeEntry = NONE;

    private int usedEntries;
    // Arrays indexed by position, in a ring.
    private int[] entryAt = new int[INITIAL];
    /** Number of positions from a reference to the next one of the same key; 0 if there is none in the window. */
    private int[] gaps = new int[INITIAL];

    private long head;
    private long tail;

    /**
     * Adds a reference to a key at the head.
     *
     * @return the key's entry
     */
    int enter(long key) {
        if (head - tail == entryAt.length) {
            growRing();
        }
        int entry = entries.getOrDefault(key, NONE);
        if (entry == NONE) {
            entry = newEntry(key);
            next[entry] = head;
        } else {
            gaps[place(last[entry])] = Math.toIntExact(head - last[entry]);
        }
        last[entry] = head;
        int place = place(head++);
        entryAt[place] = entry;
        gaps[place] = 0;
        return entry;
    }

    /** Removes the current reference; its key's entry is freed if the window has no other. */
    void slide() {
        int place = place(tail);
        int entry = entryAt[place];
        int gap = gaps[place];
        if (gap > 0) {
            next[entry] = tail + gap;
        } else {
            entries.remove(keys[entry]);
            next[entry] = freeEntry;
            freeEntry = entry;
        }
        tail++;
    }

    /** Returns the entry of a key, or {@link #NONE}. */
    int find(long key) {
        return entries.getOrDefault(key, NONE);
    }

    /** Returns the entry of the current reference. */
    int current() {
        if (head == tail) {
            throw new IllegalStateException("there is no current reference: the window is empty");
        }
        return entryAt[place(tail)];
    }

    /** Returns the entry of the reference at a position in the window. */
    int entryAt(long position) {
        return entryAt[place(position)];
    }

    /** Whether the key of the current reference is referenced again in the window. */
    boolean currentComesAgain() {
        return gaps[place(tail)] > 0;
    }

    long key(int entry) {
        return keys[entry];
    }

    /** Returns the position at which an entry's key is referenced next. */
    long next(int entry) {
        return next[entry];
    }

    /** Returns the position of the current reference. */
    long tail() {
        return tail;
    }

    /** Returns the position of the reference that enters next. */
    long head() {
        return head;
    }

    /** Returns the capacity for entries: every entry is below it. It only grows. */
    int entryCapacity() {
        return keys.length;
    }

    long heapBytes() {
        return entries.ramBytesAllocated()
                + (long) keys.length * 3 * Long.BYTES
                + (long) entryAt.length * 2 * Integer.BYTES;
    }

    private int newEntry(long key) {
        int entry;
        if (freeEntry != NONE) {
            entry = freeEntry;
            freeEntry = (int) next[entry];
        } else {
            if (usedEntries == keys.length) {
                growEntries();
            }
            entry = usedEntries++;
        }
        keys[entry] = key;
        entries.put(key, entry);
        return entry;
    }

    private int place(long position) {
        return (int) position & (entryAt.length - 1);
    }

    private void growEntries() {
        int length = keys.length * 2;
        keys = Arrays.copyOf(keys, length);
        next = Arrays.copyOf(next, length);
        last = Arrays.copyOf(last, length);
    }

    private void growRing() {
        int[] grownEntries = new int[entryAt.length * 2];
        int[] grownGaps = new int[entryAt.length * 2];
        for (long position = tail; position < head; position++) {
            int place = (int) position & (grownEntries.length - 1);
            grownEntries[place] = entryAt[place(position)];
            grownGaps[place] = gaps[place(position)];
        }
        entryAt = grownEntries;
        gaps = grownGaps;
    }
}
