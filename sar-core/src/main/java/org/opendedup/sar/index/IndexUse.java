package org.opendedup.sar.index;

/**
 * Where an index has its bytes.
 *
 * @param fastBytes files at the index location that lookups read, without those that only an opening reads
 * @param disk what lies on the disk behind it
 * @param share how it shares its SSD
 */
public record IndexUse(long fastBytes, DiskIndexUse disk, SsdShare share) {
    /** Of an index that has nothing behind it, and does not count its bytes. */
    public static final IndexUse UNKNOWN = new IndexUse(0, DiskIndexUse.NONE, SsdShare.NONE);
}
