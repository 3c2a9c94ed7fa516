package org.opendedup.sar.check;

import java.util.List;

/**
 * A file of which bytes cannot be read.
 *
 * @param inode its inode number
 * @param paths all its names, as paths from the volume's root that begin with a slash; empty if none was found
 * @param ranges the damaged bytes, in ascending order, neighbours merged
 */
public record DamagedFile(long inode, List<String> paths, List<Range> ranges) {
    /**
     * Bytes of a file.
     *
     * @param from offset of the first byte
     * @param to offset after the last byte
     */
    public record Range(long from, long to) {}

    /** Returns the number of damaged bytes. */
    public long bytes() {
        return ranges.stream().mapToLong(range -> range.to() - range.from()).sum();
    }
}
