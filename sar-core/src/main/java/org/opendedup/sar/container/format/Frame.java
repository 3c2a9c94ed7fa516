package org.opendedup.sar.container.format;

import java.util.BitSet;

/**
 * A decoded frame: consecutive slots of a container with their bytes. A slot whose chunk is removed or lost has no
 * bytes. Immutable by convention: all readers share {@link #data}. A lent frame is valid only during the call that
 * receives it: its array is used again.
 */
public final class Frame {
    /** Heap bytes of the object, the headers of three arrays, and the fields. */
    private static final int FIXED_BYTES = 96;

    private final long container;
    private final int firstSlot;
    private final byte[] data;
    /** Chunk ends: {@code ends[i]} is the offset in {@link #data} one past chunk {@code i}. */
    private final int[] ends;

    private final int[] fingerprintPrefixes;
    /** Slots, counted from the first one, whose chunks are lost. */
    private final BitSet lost;

    Frame(long container, int firstSlot, byte[] data, int[] ends, int[] fingerprintPrefixes, BitSet lost) {
        this.lost = lost;
        this.container = container;
        this.firstSlot = firstSlot;
        this.data = data;
        this.ends = ends;
        this.fingerprintPrefixes = fingerprintPrefixes;
    }

    public long container() {
        return container;
    }

    public int firstSlot() {
        return firstSlot;
    }

    /** Returns the number of slots, including those whose chunk is removed. */
    public int count() {
        return ends.length;
    }

    /** Returns an array with the chunks' bytes, one after another, from its first byte on. Must not be changed. */
    public byte[] data() {
        return data;
    }

    /** Returns whether the chunk of a slot is listed without its bytes, because no copy of it was found. */
    public boolean isLost(int slot) {
        return lost.get(index(slot));
    }

    /** Returns whether the frame has the bytes of a slot: it covers the slot, and the chunk is not removed or lost. */
    public boolean holds(int slot) {
        int index = slot - firstSlot;
        return index >= 0 && index < ends.length && length(slot) > 0;
    }

    /** Returns the offset in {@link #data} of a slot's chunk. */
    public int offset(int slot) {
        int index = index(slot);
        return index == 0 ? 0 : ends[index - 1];
    }

    /** Returns the length of a slot's chunk in bytes; 0 if it is removed or lost. */
    public int length(int slot) {
        return ends[index(slot)] - offset(slot);
    }

    /**
     * Returns the first four bytes of the fingerprint of a slot's chunk, as
     * {@link org.opendedup.sar.common.Fingerprints#fingerprintPrefix} does; 0 if it is removed.
     */
    public int fingerprintPrefix(int slot) {
        return fingerprintPrefixes[index(slot)];
    }

    /** Returns the heap bytes that this frame occupies. A lent frame does not know them: its array may be longer. */
    public int weightBytes() {
        return FIXED_BYTES + data.length + 2 * Integer.BYTES * ends.length;
    }

    private int index(int slot) {
        int index = slot - firstSlot;
        if (index < 0 || index >= ends.length) {
            throw new IllegalArgumentException("slot " + slot + " is not in this frame of container " + container
                    + ", which holds " + firstSlot + " to " + (firstSlot + ends.length - 1));
        }
        return index;
    }
}
