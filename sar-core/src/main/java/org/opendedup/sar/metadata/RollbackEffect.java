package org.opendedup.sar.metadata;

/**
 * What a rollback to a snapshot changes. Files are inodes of any kind that have a name; bytes are those that their
 * recipes take from chunks.
 *
 * @param backFiles number of files that the snapshot has and the present state has not
 * @param backBytes bytes of these
 * @param goneFiles number of files that the present state has and the snapshot has not
 * @param goneBytes bytes of these
 * @param changedFiles number of files that both have, and that differ in more than the time of the last access
 * @param changedBytes bytes that these have in the snapshot
 * @param records number of records of the metadata that differ
 * @param recordBytes about how many bytes of records the rollback writes
 */
public record RollbackEffect(
        long backFiles,
        long backBytes,
        long goneFiles,
        long goneBytes,
        long changedFiles,
        long changedBytes,
        long records,
        long recordBytes) {
    /** Returns whether nothing comes back, goes or changes: at most times of accesses differ. */
    public boolean isNone() {
        return backFiles + goneFiles + changedFiles == 0;
    }
}
