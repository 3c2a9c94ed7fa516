package org.opendedup.sar.raw;

/**
 * Numbers of backing files. That of one with all bytes of a file is the inode number and, in the last byte, how often
 * that inode had one. So its inode is known from its name, and a file can get a new one while the old one waits for its
 * deletion. That of one with changed bytes only has a bit that no inode number reaches, and is never used again: a
 * restored backup of the metadata may name it, and its ranges would be holes in a later file of that name.
 */
public final class RawNumbers {
    private static final int USE_BITS = 8;
    private static final long USES = 1 << USE_BITS;
    private static final long PART = 1L << 62;
    private static final long EPOCHS = PART >>> Integer.SIZE;

    private RawNumbers() {}

    /** Returns the number of an inode's first backing file that has all bytes. */
    public static long first(long inode) {
        return inode << USE_BITS;
    }

    /** Returns the number after {@code number} of the same inode; after the last one, the first. */
    public static long next(long number) {
        return number - number % USES + (number + 1) % USES;
    }

    /** Returns the inode of a backing file that has all bytes. */
    public static long inode(long number) {
        return number >>> USE_BITS;
    }

    /**
     * Returns the number of a backing file that has changed bytes only.
     *
     * @param epoch of the mount in which it is made
     * @param count of such files that were made before in that mount
     */
    public static long part(long epoch, int count) {
        return PART | epoch % EPOCHS << Integer.SIZE | Integer.toUnsignedLong(count);
    }

    /** Returns whether a backing file has changed bytes only. */
    public static boolean isPart(long number) {
        return (number & PART) != 0;
    }
}
