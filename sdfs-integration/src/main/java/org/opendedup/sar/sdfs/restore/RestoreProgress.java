package org.opendedup.sar.sdfs.restore;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.log.EachEvent;
import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the progress of a restore, and what could not be restored. Safe for use by many threads. */
final class RestoreProgress {
    private static final Logger LOG = LoggerFactory.getLogger(RestoreProgress.class);
    private static final double NANOS = 1e9;

    private final long startNanos = System.nanoTime();
    private final BoundedWords damages = new BoundedWords();
    private final BoundedWords losses = new BoundedWords();
    private Phase phase = Phase.WALKING;
    private long entryCount;
    private long bytes;
    private long bytesWritten;
    /** Bytes that were read as programs do. */
    private long bytesCopied;

    private long bytesResumed;
    private long damagedPlaces;
    private long filesMissing;
    private long filesChanging;
    private long attributesLost;
    private long entriesLost;
    /** Why the volume cannot store all that was written; null if it can. */
    private @Nullable String notStored;

    /** End of the restore, by System.nanoTime; 0 if it has not ended. */
    private long endNanos;

    synchronized void phase(Phase now) {
        phase = now;
    }

    synchronized void ended() {
        endNanos = System.nanoTime();
    }

    synchronized void foundEntry() {
        entryCount++;
    }

    /** @param found bytes to write that are known at this time */
    synchronized void found(long found) {
        bytes = found + bytesCopied;
    }

    /** Adds the progress of an earlier restore. */
    synchronized void resumed(RestoreJournal.State state) {
        bytesWritten = state.bytes();
        bytesResumed = state.bytes();
        // Both have what the walks found damaged, but for what only one of them did.
        damagedPlaces = Math.max(damagedPlaces, state.damaged());
        attributesLost += state.lost();
        filesMissing += state.missing();
    }

    synchronized void wrote(int length) {
        bytesWritten += length;
    }

    /** Counts bytes that were copied without a place. */
    synchronized void copied(int length) {
        bytesCopied += length;
    }

    /** @param words what cannot be read, and why */
    void damaged(String words) {
        LOG.warn(EachEvent.MARKER, "damaged: {}", words);
        synchronized (this) {
            damagedPlaces++;
            damages.add(words);
        }
    }

    /** @param why why the volume cannot store all that was written, as text */
    synchronized void notStored(String why) {
        LOG.warn(EachEvent.MARKER, "not all that was written can be stored; restored is what programs read: {}", why);
        notStored = why;
    }

    /** @param words the file or folder that is not there, or not as it was last, and why */
    synchronized void missing(String words) {
        filesMissing++;
        lost(words);
    }

    /** @param words the file that was written to, and what that means */
    synchronized void changing(String words) {
        filesChanging++;
        lost(words);
    }

    /** @param words the file, what could not be set, and why */
    synchronized void lostAttribute(String words) {
        attributesLost++;
        lost(words);
    }

    /** @param words what could not be made, and why */
    synchronized void lostEntry(String words) {
        entriesLost++;
        lost(words);
    }

    /** Logs only the first losses: a user without the right to change owners loses one attribute for each file. */
    private void lost(String words) {
        if (losses.add(words)) {
            LOG.info(EachEvent.MARKER, "not restored: {}", words);
        } else {
            LOG.debug("not restored: {}", words);
        }
    }

    /** Returns the bytes that were written to their places, including those of an earlier restore. */
    synchronized long placed() {
        return bytesWritten;
    }

    synchronized RestoreStatus status() {
        long now = endNanos != 0 ? endNanos : System.nanoTime();
        return new RestoreStatus(
                phase,
                entryCount,
                bytes,
                bytesWritten + bytesCopied,
                bytesResumed,
                damagedPlaces,
                damages.copy(),
                filesMissing,
                filesChanging,
                attributesLost,
                entriesLost,
                losses.copy(),
                notStored,
                (now - startNanos) / NANOS);
    }
}
