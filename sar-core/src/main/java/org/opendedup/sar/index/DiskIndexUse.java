package org.opendedup.sar.index;

/**
 * What a disk index holds and did.
 *
 * @param bytes its files, in bytes
 * @param chunks fingerprints that lead to a chunk; approximate after a crash
 * @param asked chunks that lookups asked for, because nothing else knew them
 * @param found those of them that were here
 */
public record DiskIndexUse(long bytes, long chunks, long asked, long found) {
    /** Of an index with nothing behind it. */
    public static final DiskIndexUse NONE = new DiskIndexUse(0, 0, 0, 0);
}
