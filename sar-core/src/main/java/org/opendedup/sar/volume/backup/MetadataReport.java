package org.opendedup.sar.volume.backup;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.DamagedFile;

/**
 * What restoring or salvaging metadata found.
 *
 * @param oldDatabase folder that has the files of the replaced database now; null if there was none
 * @param containers containers in the container table
 * @param movedContainers those that garbage collections had moved since: the table has their new places again
 * @param missingContainers those of which no place is left
 * @param newer containers that only the lost metadata knew; they stay in their packs
 * @param damagedFiles files with bytes that cannot be read, the first ones
 * @param moreDamagedFiles how many there are besides
 * @param lost what else is lost, as sentences
 */
public record MetadataReport(
        @Nullable Path oldDatabase,
        long containers,
        long movedContainers,
        long missingContainers,
        NewerContainers newer,
        List<DamagedFile> damagedFiles,
        long moreDamagedFiles,
        List<String> lost) {
    public MetadataReport {
        damagedFiles = List.copyOf(damagedFiles);
        lost = List.copyOf(lost);
    }
}
