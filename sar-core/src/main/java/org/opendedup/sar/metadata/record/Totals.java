package org.opendedup.sar.metadata.record;

/**
 * Running totals of a volume.
 *
 * @param logicalBytes bytes of the files that are in chunks, the sum of {@link Inode#dataBytes()}: they count against
 *     the capacity
 * @param files inodes in use
 * @param stored the existing copies of chunks
 */
public record Totals(long logicalBytes, long files, StoredCopies stored) {
    public static final Totals NONE = new Totals(0, 0, StoredCopies.NONE);
}
