package org.opendedup.sar.metadata.backup;

import java.util.List;

/**
 * A backup of a metadata database.
 *
 * @param number counts the backups of a folder, from 1 on
 */
public record Backup(long number, BackupOrigin origin, List<BackupFile> files) {
    public Backup {
        files = List.copyOf(files);
    }

    /** Returns the bytes of the database. Backups share tables, so several take less than the sum of these. */
    public long bytes() {
        return files.stream().mapToLong(BackupFile::bytes).sum();
    }
}
