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
 * @param attributesLost owners, modes, extended attributes and times that the destination or the user's rights do not allow
 * @param entriesLost links and nodes that it does not allow, and hard links that became files of their own
 * @param losses the first of both, in words: as many as of damages
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
        long entriesLost,
        List<String> losses,
        double seconds) {

    /** The steps of a restore. */
    public enum Phase {
        WALKING,
        RESTORING,
        FINISHING,
        DONE
    }
}
