package org.opendedup.sar.sdfs.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a restore. Commands show it under these names, which are stable.
 *
 * @param phase the current step
 * @param entries number of files, folders and other entries found
 * @param bytes bytes of chunks to write; not final before the tree is walked
 * @param bytesDone bytes written, including those of an earlier restore
 * @param bytesResumed bytes written by an earlier restore
 * @param damagedPlaces places in files that could not be filled
 * @param damages the first of them, as text: at most 50, of 10 KiB in all
 * @param filesMissing number of files and folders that could not be made, and of files that may have newer bytes on the
 *     fast tier, which does not have them now
 * @param filesChanging number of files that programs wrote to while they were read: their bytes are of several moments
 * @param attributesLost number of owners, modes, extended attributes and times that the destination or the user's
 *     rights do not allow
 * @param entriesLost number of links and nodes that it does not allow, and of hard links that became separate files
 * @param losses the first of all these, as text: as many as of damages
 * @param notStored why the volume cannot store all that was written, as text; null if it can. What it has in memory
 *     only is restored too
 * @param seconds seconds since it began
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RestoreStatus(
        Phase phase,
        long entries,
        long bytes,
        long bytesDone,
        long bytesResumed,
        long damagedPlaces,
        List<String> damages,
        long filesMissing,
        long filesChanging,
        long attributesLost,
        long entriesLost,
        List<String> losses,
        @Nullable String notStored,
        double seconds) {

    /** The steps of a restore. */
    public enum Phase {
        WALKING,
        RESTORING,
        FINISHING,
        DONE
    }
}
