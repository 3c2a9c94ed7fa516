package org.opendedup.sar.raw;

/**
 * Numbers of backing files: the inode number and, in the last byte, how often that inode had one. So the inode of a
 * backing file is known from its name, and a file can get a new one while the old one waits for its deletion.
 */
public final class RawNumbers {
    private static final int USE_BITS = 8;
    private static final long USES = 1 << USE_BITS;

    private RawNumbers() {}

    /** Returns the number of an inode's first backing file. */
    public static long first(long inode) {
        return inode << USE_BITS;
    }

    /** Returns the number after {@code number} of the same inode; after the last one, the first. */
    public static long next(long number) {
        return number - number % USES + (number + 1) % USES;
    }

    /** Returns the inode of a backing file. */
    public static long inode(long number) {
        return number >>> USE_BITS;
    }
}
