package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.restore.bulk.Places;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.sdfs.log.EachEvent;
import org.opendedup.sar.sort.TupleSort;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.posix.InodeState;
import org.opendedup.sar.volume.rewrite.FileState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first step of a restore: makes the entries of a tree, and records the places of all bytes. The length and the
 * references of a file are those of one moment. A file for which there is no such moment, because programs write to it
 * or its bytes cannot be stored now, is {@linkplain FileCopy copied} at once. For use by one thread.
 */
final class TreePlan {
    private static final Logger LOG = LoggerFactory.getLogger(TreePlan.class);

    private final Volume volume;
    private final EntryLog entries;
    private final Places places;
    private final Destination destination;
    private final RestoreProgress progress;
    private final StopCheck stop;
    private final Maker maker;
    /** Whether an earlier restore has made the entries. */
    private final boolean isMade;

    private final FileCopy copy;
    /** Numbers of the files that were copied, by each name. Only a program that writes during the walk adds one. */
    private final Set<Long> copied = new HashSet<>();
    /**
     * The attributes of files whose bytes are of another moment than their entries in the log, by the numbers of these.
     * Only a program that changes a file during the walk adds one.
     */
    private final Map<Long, InodeState> changed = new HashMap<>();

    /** Makes entries at the destination, or finds them there. */
    @FunctionalInterface
    interface Maker {
        /** @return false, and reports it, if the destination does not allow this entry, but may allow others */
        boolean make(TreeEntry entry) throws IOException;

        /** Called before bytes are replaced of an entry that was found there. */
        default void replacesBytes() throws IOException {}
    }

    /** @param isMade whether an earlier restore has made the entries */
    TreePlan(
            Volume volume,
            EntryLog entries,
            Places places,
            Destination destination,
            RestoreProgress progress,
            StopCheck stop,
            Maker maker,
            boolean isMade) {
        this.volume = volume;
        this.entries = entries;
        this.places = places;
        this.destination = destination;
        this.progress = progress;
        this.stop = stop;
        this.maker = maker;
        this.isMade = isMade;
        copy = new FileCopy(volume, destination, progress, stop);
    }

    /** Returns whether a file is complete without its places, which may be of several moments. */
    boolean isCopied(long number) {
        return copied.contains(number);
    }

    /** Returns an entry of the log with the attributes that its inode had at the moment of its bytes. */
    TreeEntry atItsBytes(long number, TreeEntry entry) {
        InodeState state = changed.get(number);
        return state == null ? entry : entry.with(state);
    }

    /**
     * Makes an entry with one name and appends it to the log.
     *
     * @return its number; {@link TreeEntry#NONE}, and reports it, if the destination does not have it
     */
    long plan(TreeEntry entry) throws IOException {
        if (!maker.make(entry)) {
            return TreeEntry.NONE;
        }
        if (!entry.isRegular()) {
            return entries.append(entry);
        }
        long number = entries.next();
        Optional<FileState> state = state(entry, number);
        entries.append(state.map(found -> entry.with(found.inode())).orElse(entry));
        complete(entry, number, state);
        return number;
    }

    /** @param links inode and number of each entry that has other names, by inode */
    void planLinked(TupleSort.Cursor links) throws IOException {
        long inode = 0;
        boolean isGone = false;
        TreeEntry first = null;
        long firstNumber = TreeEntry.NONE;
        while (links.next()) {
            stop.check();
            long number = links.get(1);
            TreeEntry entry = entries.read(number);
            if (entry.inode() != inode) {
                inode = entry.inode();
                isGone = isGone(inode);
                first = null;
            }
            if (isGone) {
                continue;
            }
            if (first != null && isLinked(first, entry)) {
                if (isCopied(firstNumber)) {
                    copied.add(number);
                }
                noteChanged(entry, number, changed.get(firstNumber));
                continue;
            }
            if (planName(entry, number)) {
                if (first != null) {
                    // The destination has no links, or not as many: this name becomes a separate file.
                    progress.lostEntry(
                            destination.text(entry) + ": is a copy and no other name of " + destination.text(first));
                }
                first = entry;
                firstNumber = number;
            }
        }
    }

    /** Returns whether an inode was removed after its visit: it is then left out, like one removed earlier. */
    private boolean isGone(long inode) throws IOException {
        try {
            volume.attributes(inode);
            return false;
        } catch (PosixException e) {
            // In a snapshot nothing is removed: then all of it was deleted.
            if (e.reason() != PosixException.Reason.ESTALE || SnapshotIds.isInSnapshot(inode)) {
                throw e;
            }
            LOG.info(EachEvent.MARKER, "inode {} was removed meanwhile and is not restored", inode);
            return true;
        }
    }

    private boolean isLinked(TreeEntry first, TreeEntry entry) throws IOException {
        return isMade ? destination.isLinked(first, entry) : destination.link(first, entry);
    }

    private boolean planName(TreeEntry entry, long number) throws IOException {
        if (!maker.make(entry)) {
            entries.addRefused(number);
            return false;
        }
        if (entry.isRegular()) {
            Optional<FileState> state = state(entry, number);
            noteChanged(entry, number, state.map(FileState::inode).orElse(null));
            complete(entry, number, state);
        }
        return true;
    }

    /** Records the places of a file. Returns the state that they describe; empty if the file has to be copied. */
    private Optional<FileState> state(TreeEntry entry, long number) throws IOException {
        IOException[] own = {null};
        Optional<FileState> state = Optional.empty();
        try {
            state = volume.maintenance()
                    .forEachReference(entry.inode(), (offset, chunkId, chunkOffset, length, fingerprintPrefix) -> {
                        try {
                            stop.check();
                            entries.addReference(number, offset, chunkId, chunkOffset, length);
                            places.add(chunkId, chunkOffset, length, fingerprintPrefix, number, offset);
                        } catch (IOException e) {
                            own[0] = e;
                            throw e;
                        }
                    });
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            if (own[0] != null) {
                throw own[0];
            }
            // The copy reports what cannot be read.
            LOG.debug("the references of inode {} cannot be read", entry.inode(), e);
        }
        entries.addLength(number, state.map(FileState::size).orElse(TreeEntry.NONE));
        return state;
    }

    private void noteChanged(TreeEntry entry, long number, @Nullable InodeState state) {
        if (state != null && !entry.with(state).encode().equals(entry.encode())) {
            changed.put(number, state);
        }
    }

    /** Copies a file without a state; gives any other its length. */
    private void complete(TreeEntry entry, long number, Optional<FileState> state) throws IOException {
        // The log has the length that a file with several names had when it was found.
        if (state.isEmpty() || entry.isLinked() && state.get().size() != entry.size()) {
            copied.add(number);
            maker.replacesBytes();
            noteChanged(entry, number, copy.copy(number, entry));
            return;
        }
        FileState found = state.get();
        if (!found.isNewest()) {
            progress.missing(destination.text(entry)
                    + ": as it was when it was last stored in chunks; newer bytes may be on the fast tier,"
                    + " which does not have them now");
        }
        if (!isMade && found.size() != entry.size() && !destination.setLength(number, found.size())) {
            copied.add(number);
        }
    }
}
