package org.opendedup.sar.metadata.remote;

import java.util.List;
import java.util.UUID;
import org.opendedup.sar.metadata.backup.BackupFile;

/**
 * A copy of the metadata in an object store, as they were at a place of the chain.
 *
 * @param point the last log segment that it has completely
 * @param sequence number of its last change; of a checkpoint that is not ahead, in the segment that follows the point
 *     at most
 * @param isAhead whether it has changes that no segment has: it counts only if the segment after the point names it
 * @param createdMs when it was made, in milliseconds since 1970
 * @param files the files of the database, and which objects have them
 */
record Checkpoint(
        UUID volume, ChainPoint point, long sequence, boolean isAhead, long createdMs, List<BackupFile> files) {
    Checkpoint {
        files = List.copyOf(files);
    }
}
