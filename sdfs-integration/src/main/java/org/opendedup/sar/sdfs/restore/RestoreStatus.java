package org.opendedup.sar.sdfs.restore;

import java.util.List;

/**
 * How far a restore is.
 *
 * @param phase what it does at the moment
 * @param entries files, folders and others found
 * @param bytes bytes of chunks to write; not final before the tree is walked
 * @param bytesWritten those of them that are written, by an earlier restore too
 * @param bytesResumed those that an earlier restore has written
 * @param damagedPlaces places in files that could not be filled
 * @param damages the first of them, in words: at most 50, of 10 KiB in all
 * @param attributesLost owners, modes and extended attributes that the destination or the user's rights do not allow
 * @param seconds since it began
 */
public record RestoreStatus(
        Phase phase,
        long entries,
        long bytes,
        long bytesWritten,
        long bytesResumed,
        long damagedPlaces,
        List<String> damages,
        long attributesLost,
        double seconds) {

    /** The steps of a restore. */
    public enum Phase {
        WALKING,
        RESTORING,
        FINISHING,
        DONE
    }
}
