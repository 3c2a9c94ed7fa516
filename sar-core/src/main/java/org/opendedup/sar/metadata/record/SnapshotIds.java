package org.opendedup.sar.metadata.record;

/**
 * Inode numbers of files in snapshots. The number of a snapshot is in the upper bits, so each file of each snapshot has
 * a number of its own, and it stays the same: programs that compare numbers do not take a file in a snapshot for the
 * present one.
 */
public final class SnapshotIds {
    /** Bits of an inode's own number. */
    private static final int INODE_BITS = 42;

    /** The highest number of an inode: 4 398 046 511 103. */
    public static final long MAX_INODE = (1L << INODE_BITS) - 1;

    /** The highest number of a snapshot. Numbers begin at 1 and are never used again. */
    public static final long MAX_SNAPSHOT = (1L << 63 - INODE_BITS) - 2;

    /** The folder whose entries are the snapshots. */
    public static final long FOLDER = of(MAX_SNAPSHOT + 1, Inode.ROOT);

    private SnapshotIds() {}

    public static long of(long snapshot, long inode) {
        return snapshot << INODE_BITS | inode;
    }

    /** Returns whether an inode is in a snapshot, or is the folder of the snapshots. Such an inode never changes. */
    public static boolean isInSnapshot(long id) {
        return id > MAX_INODE;
    }

    /** Returns whether an inode is the root directory of a snapshot: an entry of {@link #FOLDER}. */
    public static boolean isRoot(long id) {
        return isInSnapshot(id) && id != FOLDER && inode(id) == Inode.ROOT;
    }

    /** Returns the snapshot that an inode is in; 0 for a present one. */
    public static long snapshot(long id) {
        return id >>> INODE_BITS;
    }

    /** Returns the number that the inode has outside of snapshots. */
    public static long inode(long id) {
        return id & MAX_INODE;
    }

    /** Returns the id that an inode has in the same snapshot as {@code id}, or in none. */
    public static long beside(long id, long inode) {
        return id & ~MAX_INODE | inode;
    }

    /** Returns a key that begins with an inode's id, with the number that the inode has outside of snapshots. */
    public static byte[] plainKey(byte[] key) {
        if (key.length < Keys.LONG_BYTES || !isInSnapshot(Keys.longAt(key, 0))) {
            return key;
        }
        return withId(key, inode(Keys.longAt(key, 0)));
    }

    /** Returns a key that begins with an inode's number, with another one. */
    public static byte[] withId(byte[] key, long id) {
        byte[] changed = key.clone();
        System.arraycopy(Keys.of(id), 0, changed, 0, Keys.LONG_BYTES);
        return changed;
    }
}
