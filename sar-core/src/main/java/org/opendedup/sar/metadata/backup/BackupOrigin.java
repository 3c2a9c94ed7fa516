package org.opendedup.sar.metadata.backup;

import org.opendedup.sar.common.Epoch;

/**
 * What a backup is a backup of.
 *
 * @param epoch the volume, and the epoch in which the backup was made
 * @param createdNs when it was begun, in nanoseconds since 1970
 * @param changes number of the database's last change before the backup was begun; it may contain later ones
 * @param collections number of garbage collections that were begun before the backup was
 */
public record BackupOrigin(Epoch epoch, long createdNs, long changes, long collections) {}
