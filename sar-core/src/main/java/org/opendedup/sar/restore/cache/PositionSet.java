package org.opendedup.sar.restore.cache;

/** Positions of a window, as bits in a ring that grows with it. */
final class PositionSet {
    /** There is none. */
    static final long NONE = -1;

    private long[] words = new long[1];
    /** The least position that may be in the set, as was told last. */
    private long tail;

    /**
     * Makes room for the positions of a window.
     *
     * @param newTail its first position: no lower one is in the set
     * @param head the position after its last one
     */
    void cover(long newTail, long head) {
        tail = newTail;
        // A word more, so that the window's first and last word are different places of the ring.
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

    /** The highest position in the set that is at most {@code from}, or {@link #NONE}. */
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
        // The words of the window stand in the lower half of their new places, or in the upper one.
        long first = tail / Long.SIZE;
        for (long word = first; word < first + old.length; word++) {
            words[(int) word & (words.length - 1)] = old[(int) word & (old.length - 1)];
        }
    }
}
