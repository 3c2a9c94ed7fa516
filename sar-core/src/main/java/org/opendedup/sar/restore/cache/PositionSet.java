package org.opendedup.sar.restore.cache;

/** A set of positions of a window, as bits in a ring that grows with it. */
final class PositionSet {
    /** Means that there is no such position. */
    static final long NONE = -1;

    private long[] words = new long[1];
    /** The lowest position that may be in the set, as last set by {@link #cover}. */
    private long tail;

    /**
     * Makes room for the positions of a window.
     *
     * @param newTail first position of the window: no lower one is in the set
     * @param head the position after its last one
     */
    void cover(long newTail, long head) {
        tail = newTail;
        // One word more, so that the window's first and last word are different places of the ring.
        while (head - tail > (long) (words.length - 1) * Long.SIZE) {
            grow();
        }
    }

    void add(long position) {
        words[word(position)] |= 1L << position;
    }

    void remove(long position) {
        words[word(position)] &= ~(1L << position);
    }

    /** Returns the highest position in the set that is at most {@code from}, or {@link #NONE}. */
    long floor(long from) {
        long position = from;
        // Bits above position are shifted out.
        long bits = position < tail ? 0 : words[word(position)] << ~position;
        while (bits == 0) {
            position = (position & -Long.SIZE) - 1;
            if (position < tail) {
                return NONE;
            }
            bits = words[word(position)];
        }
        return position - Long.numberOfLeadingZeros(bits);
    }

    long heapBytes() {
        return (long) words.length * Long.BYTES;
    }

    private int word(long position) {
        return (int) (position / Long.SIZE) & (words.length - 1);
    }

    private void grow() {
        long[] old = words;
        words = new long[old.length * 2];
        // In the doubled ring, a word of the window is in the lower or in the upper half, by its number.
        long first = tail / Long.SIZE;
        for (long word = first; word < first + old.length; word++) {
            words[(int) word & (words.length - 1)] = old[(int) word & (old.length - 1)];
        }
    }
}
