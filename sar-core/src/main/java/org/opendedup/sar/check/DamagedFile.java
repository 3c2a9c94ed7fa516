package org.opendedup.sar.check;

import java.util.List;

/**
 * A file of which bytes cannot be read.
 *
 * @param inode its inode number
 * @param paths all its names, as paths from the volume's root that begin with a slash; empty if none was found
 * @param ranges the damaged bytes, in ascending order, neighbours merged; the first ones if there are very many
 * @param bytes number of damaged bytes, also of ranges that are left out
 * @param moreRanges number of ranges that are left out
 */
public record DamagedFile(long inode, List<String> paths, List<Range> ranges, long bytes, long moreRanges) {
    public DamagedFile {
        paths = List.copyOf(paths);
        ranges = List.copyOf(ranges);
    }

    /**
     * Bytes of a file.
     *
     * @param from offset of the first byte
     * @param to offset after the last byte
     */
    public record Range(long from, long to) {}
}
