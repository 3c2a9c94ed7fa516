package org.opendedup.sar.volume.stream;

/**
 * A place in the order of a stream: all that it says of lower inodes, and of this inode's pages below {@code page},
 * comes before. A stream that begins at a position repeats the record, the attributes and the names of its inode.
 *
 * @param inode number of an inode; 0 at the beginning
 * @param page number of a page of its recipe
 */
public record StreamPosition(long inode, long page) implements Comparable<StreamPosition> {
    public static final StreamPosition START = new StreamPosition(0, 0);

    @Override
    public int compareTo(StreamPosition other) {
        return inode == other.inode ? Long.compare(page, other.page) : Long.compare(inode, other.inode);
    }
}
