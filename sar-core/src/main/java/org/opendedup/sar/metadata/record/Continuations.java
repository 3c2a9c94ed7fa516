package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import org.opendedup.sar.common.CorruptionException;

/**
 * The number of references that do not begin with the chunk's first byte, for the few slots of a container that have
 * any. About every thirtieth chunk has one, because a page border cut it. Two sorted arrays. Not thread-safe: the
 * record's owner locks it.
 */
final class Continuations {
    /** Heap bytes of the fields, and of the headers of this object and its arrays. */
    private static final int FIXED_BYTES = 56;

    private static final int[] NONE = {};

    private int[] slots = NONE;
    private int[] counts = NONE;
    private int size;

    Continuations copy() {
        Continuations copy = new Continuations();
        if (size > 0) {
            copy.slots = Arrays.copyOf(slots, size);
            copy.counts = Arrays.copyOf(counts, size);
            copy.size = size;
        }
        return copy;
    }

    /** Returns the number of references to that slot that do not begin with the chunk's first byte. */
    int count(int slot) {
        int at = Arrays.binarySearch(slots, 0, size, slot);
        return at < 0 ? 0 : counts[at];
    }

    /** @throws IllegalStateException if a count would fall below zero, which is a programmer error */
    void add(int slot, int delta) {
        int at = Arrays.binarySearch(slots, 0, size, slot);
        int now = (at < 0 ? 0 : counts[at]) + delta;
        if (now < 0) {
            throw new IllegalStateException("slot " + slot + " has " + (now - delta)
                    + " references that begin after its first byte: a change by " + delta + " is impossible");
        }
        if (at < 0 && now > 0) {
            insert(-at - 1, slot, now);
        } else if (at >= 0 && now == 0) {
            remove(at);
        } else if (at >= 0) {
            counts[at] = now;
        }
    }

    private void insert(int at, int slot, int count) {
        if (size == slots.length) {
            slots = Arrays.copyOf(slots, Math.max(8, 2 * size));
            counts = Arrays.copyOf(counts, slots.length);
        }
        System.arraycopy(slots, at, slots, at + 1, size - at);
        System.arraycopy(counts, at, counts, at + 1, size - at);
        slots[at] = slot;
        counts[at] = count;
        size++;
    }

    private void remove(int at) {
        size--;
        System.arraycopy(slots, at + 1, slots, at, size - at);
        System.arraycopy(counts, at + 1, counts, at, size - at);
    }

    int heapBytes() {
        return FIXED_BYTES + (slots.length == 0 ? 0 : 2 * (16 + Integer.BYTES * slots.length));
    }

    void encode(ValueWriter out) {
        out.writeVarint(size);
        int next = 0;
        for (int i = 0; i < size; i++) {
            out.writeVarint(slots[i] - next).writeVarint(counts[i]);
            next = slots[i] + 1;
        }
    }

    /**
     * Decodes the bytes that {@link #encode} wrote.
     *
     * @param references the references to each slot, an upper bound for the counts
     */
    static Continuations decode(ValueReader in, ContainerCounts references) throws CorruptionException {
        Continuations decoded = new Continuations();
        int size = (int) in.readVarint(Math.min(references.slots(), in.remaining()));
        decoded.slots = new int[size];
        decoded.counts = new int[size];
        decoded.size = size;
        int next = 0;
        for (int i = 0; i < size; i++) {
            int slot = next + (int) in.readVarint(references.slots() - next - 1L);
            decoded.slots[i] = slot;
            decoded.counts[i] = (int) in.readVarint(references.count(slot));
            if (decoded.counts[i] == 0) {
                throw in.corruption("a count greater than 0", "0");
            }
            next = slot + 1;
        }
        return decoded;
    }
}
