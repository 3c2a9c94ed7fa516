package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import org.opendedup.sar.common.LongIntMap;

/**
 * The part of a recipe that a reader told and has not used yet (lookahead paper §3.3), by chunk or by container: references enter at
 * the head, the one at the tail is current, and the window slides by one. It says of each key when it is referenced next. The
 * references of one key are chained, and a map leads to the first and the last of them, so that a slide costs a map look-up or two,
 * however large the window is.
 *
 * <p>A <em>position</em> is the number of a reference in the recipe. A key that the window has references to has an <em>entry</em>, a
 * small number that its users may keep arrays by; it is given to another key when the last reference has left.
 */
final class LookaheadWindow {
    /** The key has no entry. */
    static final int NONE = LongIntMap.ABSENT;

    private static final int INITIAL = 64;

    private final LongIntMap entries = new LongIntMap();
    // By entry.
    private long[] keys = new long[INITIAL];
    private long[] next = new long[INITIAL];
    private long[] last = new long[INITIAL];
    /** The entry freed last, or {@link #NONE}; its {@code next} is the one freed before. */
    private int freeEntry = NONE;

    private int usedEntries;
    // By position, in a ring.
    private int[] entryAt = new int[INITIAL];
    /** How far it is from a reference to the next one of the same key; 0 if there is none in the window. */
    private int[] gaps = new int[INITIAL];

    private long head;
    private long tail;

    /**
     * A reference to a key enters at the head.
     *
     * @return the key's entry
     */
    int enter(long key) {
        if (head - tail == entryAt.length) {
            growRing();
        }
        int entry = entries.get(key);
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

    /** The current reference leaves; its key's entry is freed if the window has no other. */
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

    /** The entry of a key, or {@link #NONE}. */
    int find(long key) {
        return entries.get(key);
    }

    /** The entry of the current reference. */
    int current() {
        if (head == tail) {
            throw new IllegalStateException("there is no current reference: the window is empty");
        }
        return entryAt[place(tail)];
    }

    /** The entry of the reference at a position in the window. */
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

    /** The position at which an entry's key is referenced next. */
    long next(int entry) {
        return next[entry];
    }

    /** The position of the current reference. */
    long tail() {
        return tail;
    }

    /** The position that enters next. */
    long head() {
        return head;
    }

    /** Entries are 0 to this, less one; it only grows. */
    int entryCapacity() {
        return keys.length;
    }

    long heapBytes() {
        return entries.heapBytes() + (long) keys.length * 3 * Long.BYTES + (long) entryAt.length * 2 * Integer.BYTES;
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
