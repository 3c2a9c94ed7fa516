package org.opendedup.sar.raw;

/**
 * Numbers of backing files: the inode number and, in the last byte, how often that inode had one, and whether it has
 * all bytes of the file. So the inode of a backing file is known from its name, a file can get a new one while the old
 * one waits for its deletion, and a part is never taken for the whole.
 */
public final class RawNumbers {
    private static final int USE_BITS = 7;
    private static final long USES = 1 << USE_BITS;
    /** Set in the number of a backing file that has changed bytes only. */
    private static final long PART = USES;

    private static final int LOW_BITS = USE_BITS + 1;

    private RawNumbers() {}

    /** Returns the number of an inode's first backing file that has all bytes. */
    public static long first(long inode) {
        return inode << LOW_BITS;
    }

    /** Returns the number of an inode's first backing file that has changed bytes only. */
    public static long firstPart(long inode) {
        return first(inode) | PART;
    }

    /** Returns the number after {@code number} of the same inode and kind; after the last one, the first. */
    public static long next(long number) {
        return number - number % USES + (number + 1) % USES;
    }

    /** Returns the inode of a backing file. */
    public static long inode(long number) {
        return number >>> LOW_BITS;
    }

    /** Returns whether a backing file has changed bytes only. */
    public static boolean isPart(long number) {
        return (number & PART) != 0;
    }
}
