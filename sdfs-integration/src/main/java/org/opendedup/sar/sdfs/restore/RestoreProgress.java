package org.opendedup.sar.sdfs.restore;

import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How far a restore is, and what it could not bring back. Safe for use by many threads. */
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
    private long bytesResumed;
    private long damagedPlaces;
    private long attributesLost;
    private long entriesLost;
    /** 0: it has not ended. */
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

    /** @param found bytes that are to be written, as far as they are known */
    synchronized void found(long found) {
        bytes = found;
    }

    /** An earlier restore has come so far. */
    synchronized void resumed(RestoreJournal.State state) {
        bytesWritten = state.bytes();
        bytesResumed = state.bytes();
        damagedPlaces = state.damaged();
        attributesLost += state.lost();
    }

    synchronized void wrote(int length) {
        bytesWritten += length;
    }

    /** @param words what cannot be read, and why */
    void damaged(String words) {
        LOG.warn("damaged: {}", words);
        synchronized (this) {
            damagedPlaces++;
            damages.add(words);
        }
    }

    /** @param words of which file what could not be set, and why */
    synchronized void lostAttribute(String words) {
        attributesLost++;
        lost(words);
    }

    /** @param words what could not be made, and why */
    synchronized void lostEntry(String words) {
        entriesLost++;
        lost(words);
    }

    /** For a user who may not give files away there is one for each file: the log does not tell them all. */
    private void lost(String words) {
        if (losses.add(words)) {
            LOG.info("not restored: {}", words);
        } else {
            LOG.debug("not restored: {}", words);
        }
    }

    synchronized long lost() {
        return attributesLost + entriesLost;
    }

    synchronized RestoreStatus status() {
        long now = endNanos != 0 ? endNanos : System.nanoTime();
        return new RestoreStatus(
                phase,
                entryCount,
                bytes,
                bytesWritten,
                bytesResumed,
                damagedPlaces,
                damages.copy(),
                attributesLost,
                entriesLost,
                losses.copy(),
                (now - startNanos) / NANOS);
    }
}
