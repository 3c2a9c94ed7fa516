package org.opendedup.sar.container;

/**
 * A decoded frame: consecutive slots of a container with their bytes. Immutable by agreement: {@link #data} is shared by
 * every reader.
 */
public final class Frame {
    /** Object, three arrays' headers and the fields. */
    private static final int FIXED_BYTES = 96;

    private final long container;
    private final int firstSlot;
    private final byte[] data;
    /** {@code ends[i]}: offset in {@link #data}, one past chunk {@code i}. */
    private final int[] ends;

    private final int[] checks;

    Frame(long container, int firstSlot, byte[] data, int[] ends, int[] checks) {
        this.container = container;
        this.firstSlot = firstSlot;
        this.data = data;
        this.ends = ends;
        this.checks = checks;
    }

    public long container() {
        return container;
    }

    public int firstSlot() {
        return firstSlot;
    }

    /** Number of slots. */
    public int count() {
        return ends.length;
    }

    /** The chunks' bytes, one behind the other. Not to be changed. */
    public byte[] data() {
        return data;
    }

    /** Where in {@link #data} a slot's chunk begins. */
    public int offset(int slot) {
        int index = index(slot);
        return index == 0 ? 0 : ends[index - 1];
    }

    /** Bytes of a slot's chunk. */
    public int length(int slot) {
        return ends[index(slot)] - offset(slot);
    }

    /** First four bytes of the fingerprint of a slot's chunk, as {@link org.opendedup.sar.common.Fingerprints#check}. */
    public int check(int slot) {
        return checks[index(slot)];
    }

    /** Heap bytes this frame takes. */
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
