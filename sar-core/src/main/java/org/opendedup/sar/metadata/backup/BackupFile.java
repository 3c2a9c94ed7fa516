package org.opendedup.sar.metadata.backup;

/**
 * A file of a backed-up database.
 *
 * @param name its name in the database's folder
 * @param bytes its length
 * @param crc CRC-32C of its bytes
 * @param stored its name in the folder of the backups; several backups may have the same one
 */
public record BackupFile(String name, long bytes, int crc, String stored) {
    /** Returns whether a file has the same bytes as another one, whatever their names. */
    boolean hasBytesOf(BackupFile other) {
        return bytes == other.bytes && crc == other.crc;
    }
}
