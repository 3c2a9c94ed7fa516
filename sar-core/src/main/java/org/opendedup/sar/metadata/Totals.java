package org.opendedup.sar.metadata;

/**
 * Running totals of a volume.
 *
 * @param logicalBytes bytes of the files that chunks give, the sum of {@link Inode#dataBytes()}: what they take of the capacity
 * @param files inodes in use
 * @param uniqueBytes bytes of the stored chunks before compression, garbage included
 * @param chunks stored chunks, garbage included
 */
public record Totals(long logicalBytes, long files, long uniqueBytes, long chunks) {
    static final Totals NONE = new Totals(0, 0, 0, 0);

    Totals plus(long moreLogicalBytes, long moreFiles, long moreUniqueBytes, long moreChunks) {
        return new Totals(
                logicalBytes + moreLogicalBytes, files + moreFiles, uniqueBytes + moreUniqueBytes, chunks + moreChunks);
    }
}
