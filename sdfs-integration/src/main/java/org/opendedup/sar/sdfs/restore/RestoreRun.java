package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HexFormat;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.handle.PosixCalls;
import org.opendedup.sar.metadata.EntryNames;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore;
import org.opendedup.sar.restore.bulk.PlaceWriter;
import org.opendedup.sar.restore.bulk.Places;
import org.opendedup.sar.sdfs.log.EachEvent;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;
import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.opendedup.sar.sort.TupleSort;
import org.opendedup.sar.volume.Volume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of a {@link TreeRestore}: finds and makes everything, writes the bytes, sets owners, modes and other
 * attributes.
 */
final class RestoreRun {
    private static final Logger LOG = LoggerFactory.getLogger(RestoreRun.class);
    /** Memory for 200 000 places, in bytes; sorting and merging need the same amount again. */
    private static final int PLACES_BYTES = 8 << 20;

    private static final int LINKS_BYTES = 1 << 20;

    private final Volume volume;
    private final String source;
    private final DestinationRoot root;
    private final WorkFolder work;
    private final PosixCalls posix;
    private final RestoreProgress progress;
    private final BooleanSupplier stopping;
    private final long milestoneNanos;
    private final String howToBeginAnew;

    RestoreRun(
            Volume volume,
            String source,
            DestinationRoot root,
            WorkFolder work,
            PosixCalls posix,
            RestoreProgress progress,
            BooleanSupplier stopping,
            long milestoneNanos,
            String howToBeginAnew) {
        this.volume = volume;
        this.source = source;
        this.root = root;
        this.work = work;
        this.posix = posix;
        this.progress = progress;
        this.stopping = stopping;
        this.milestoneNanos = milestoneNanos;
        this.howToBeginAnew = howToBeginAnew;
    }

    /**
     * Restores a tree, starting from the state that an earlier restore reached.
     *
     * @param inode the tree's root, in use by the caller
     */
    void restore(long inode, State from) throws IOException {
        FileDirectory scratch = work.emptyScratch();
        try (Pins.Pin pin = volume.maintenance().pinChunks();
                EntryLog entries = new EntryLog(scratch);
                Places places = new Places(scratch, PLACES_BYTES, this::throwIfStopping);
                Destination destination = new Destination(posix, entries, root, progress)) {
            boolean isMade = !from.tree().isEmpty();
            if (isMade) {
                reopenRoot(TreeWalk.root(volume, inode), from);
            }
            String tree = walk(inode, scratch, entries, new Planning(entries, places, destination, isMade));
            progress.found(places.bytes());
            State state = isMade ? checkTree(from, tree, entries, destination) : made(from, tree);
            // Make durable what the journal will report as made.
            sync();
            work.journal().write(state);
            State filled = new Filling(entries, destination, state).run(places);
            finish(scratch, entries, destination, filled);
        }
    }

    private State made(State begun, String tree) throws IOException {
        return begun.made(
                tree, root.handle().status().inode(), progress.status().damagedPlaces());
    }

    /** Reports a restore of a file, link or node that had done everything before it was interrupted. */
    void foundDone(State state) {
        progress.resumed(state);
        progress.found(state.bytes());
        progress.foundEntry();
    }

    /**
     * Finishes a restore that has set all attributes except those of the root, a folder. Other users may already have
     * access to it.
     */
    void finishRoot(TreeEntry entry, State state) throws IOException {
        foundDone(state);
        reopenRoot(entry, state);
        try (EntryLog entries = new EntryLog(work.emptyScratch());
                Destination destination = new Destination(posix, entries, root, progress)) {
            progress.phase(Phase.FINISHING);
            destination.finish(entries.append(entry), entry);
            sync();
        }
    }

    private void reopenRoot(TreeEntry entry, State state) throws IOException {
        if (!root.reopen(entry, state.root(), state.onlyRootLeft())) {
            throw new IOException(root + " was changed since it was restored; " + howToBeginAnew);
        }
    }

    /** Makes everything durable that has been made and written. */
    private void sync() throws IOException {
        if (!root.handle().syncFileSystem()) {
            work.syncFileSystem();
        }
    }

    private void throwIfStopping() throws InterruptedIOException {
        if (stopping.getAsBoolean()) {
            throw new InterruptedIOException("stopped");
        }
    }

    /** Plans all entries with one name, and then those with several. */
    private String walk(long inode, FileDirectory scratch, EntryLog entries, Planning planning) throws IOException {
        try (TupleSort links = new TupleSort(scratch, "links", 2, LINKS_BYTES, this::throwIfStopping)) {
            new TreeWalk(volume, new Finding(entries, planning, links)).walk(inode);
            planning.planLinked(links.sorted(0));
        }
        return HexFormat.of().formatHex(entries.digest());
    }

    /** Records the entries that the walk finds. */
    private final class Finding implements TreeWalk.Visitor {
        private final EntryLog entries;
        private final Planning planning;
        /** Inode and number of each entry that has other names. */
        private final TupleSort links;

        Finding(EntryLog entries, Planning planning, TupleSort links) {
            this.entries = entries;
            this.planning = planning;
            this.links = links;
        }

        @Override
        public long visit(TreeEntry entry) throws IOException {
            throwIfStopping();
            long number = entries.append(entry);
            if (entry.isLinked() && !entry.isRoot()) {
                links.add(new long[] {entry.inode(), number});
            } else {
                planning.plan(entry, number);
            }
            progress.foundEntry();
            progress.found(planning.places.bytes());
            return number;
        }

        @Override
        public void damaged(long parent, byte @Nullable [] name, CorruptionException why) throws IOException {
            String folder = entries.text(root.toString(), entries.read(parent));
            progress.damaged(
                    name == null
                            ? folder + ": what else is in it cannot be listed: " + why.getMessage()
                            : folder + "/" + EntryNames.text(name) + ": " + why.getMessage());
        }

        @Override
        public void tooDeep(long parent, byte[] name, int depth) throws IOException {
            progress.lostEntry(entries.text(root.toString(), entries.read(parent)) + "/" + EntryNames.text(name)
                    + ": the entries of a folder in " + depth + " others are not restored");
        }
    }

    /** The step that makes everything, and records the place of all bytes. */
    private final class Planning {
        private final EntryLog entries;
        private final Places places;
        private final Destination destination;
        /** Whether an earlier restore has made everything. */
        private final boolean isMade;

        Planning(EntryLog entries, Places places, Destination destination, boolean isMade) {
            this.entries = entries;
            this.places = places;
            this.destination = destination;
            this.isMade = isMade;
        }

        void plan(TreeEntry entry, long number) throws IOException {
            if (entry.isRegular() && entry.size() > 0) {
                try {
                    planPlaces(entry, number);
                } catch (CorruptionException e) {
                    progress.damaged(destination.text(entry) + ": " + e.getMessage());
                }
            }
            if (!isMade) {
                destination.make(entry);
            }
        }

        private void planPlaces(TreeEntry entry, long number) throws IOException {
            volume.maintenance()
                    .forEachReference(
                            entry.inode(), entry.size(), (offset, chunkId, chunkOffset, length, fingerprintPrefix) -> {
                                throwIfStopping();
                                entries.addReference(number, offset, chunkId, chunkOffset, length);
                                places.add(chunkId, chunkOffset, length, fingerprintPrefix, number, offset);
                            });
        }

        /** @param links inode and number of each entry that has other names, by inode */
        void planLinked(TupleSort.Cursor links) throws IOException {
            TreeEntry first = null;
            boolean isThere = false;
            while (links.next()) {
                throwIfStopping();
                long number = links.get(1);
                TreeEntry entry = entries.read(number);
                if (first == null || first.inode() != entry.inode()) {
                    first = entry;
                    isThere = planIfThere(entry, number);
                } else if (isThere && !isLinked(first, entry)) {
                    // The destination has no links, or not as many: this name becomes a separate file.
                    isThere = planIfThere(entry, number);
                    progress.lostEntry(
                            destination.text(entry) + ": is a copy and no other name of " + destination.text(first));
                    first = entry;
                }
            }
        }

        private boolean isLinked(TreeEntry first, TreeEntry entry) throws IOException {
            return isMade ? destination.isLinked(first, entry) : destination.link(first, entry);
        }

        /** Returns false if the entry was removed after its visit: it is then left out, like one removed earlier. */
        private boolean planIfThere(TreeEntry entry, long number) throws IOException {
            try {
                plan(entry, number);
                return true;
            } catch (PosixException e) {
                if (e.reason() != PosixException.Reason.ESTALE) {
                    throw e;
                }
                LOG.info(EachEvent.MARKER, "inode {} was removed meanwhile and is not restored", entry.inode());
                return false;
            }
        }
    }

    /** Checks that neither the tree nor the destination has changed; returns the state to continue from. */
    private State checkTree(State state, String tree, EntryLog entries, Destination destination) throws IOException {
        if (!state.tree().equals(tree)) {
            throw new IOException(
                    source + " was changed since its restore to " + root + " was begun; " + howToBeginAnew);
        }
        entries.forEach((number, entry) -> {
            throwIfStopping();
            if (!destination.isStillThere(entry)) {
                throw new IOException(
                        destination.text(entry) + " was changed since it was restored; " + howToBeginAnew);
            }
        });
        progress.resumed(state);
        return state;
    }

    /** The step that writes the bytes. */
    private final class Filling implements PlaceWriter, ContainerOrderRestore.Milestones {
        private final EntryLog entries;
        private final Destination destination;
        private State state;
        private long lastNanos = System.nanoTime();

        Filling(EntryLog entries, Destination destination, State state) {
            this.entries = entries;
            this.destination = destination;
            this.state = state;
        }

        State run(Places places) throws IOException {
            progress.phase(Phase.RESTORING);
            volume.maintenance().restorer().restore(places, state.nextContainer(), this, this);
            reached(ChunkId.MAX_CONTAINER);
            return state;
        }

        @Override
        public void write(long file, long offset, byte[] data, int from, int length) throws IOException {
            destination.write(file, offset, data, from, length);
            progress.wrote(length);
        }

        @Override
        public void damaged(long file, long offset, int length, IOException why) {
            String name;
            try {
                name = destination.text(entries.read(file));
            } catch (IOException e) {
                name = "file " + file;
                why.addSuppressed(e);
            }
            progress.damaged(name + ": " + length + " bytes at offset " + offset + ": " + why.getMessage());
            progress.wrote(length);
        }

        @Override
        public boolean isDue() {
            return stopping.getAsBoolean() || System.nanoTime() - lastNanos > milestoneNanos;
        }

        @Override
        public void reached(long container) throws IOException {
            sync();
            RestoreStatus now = progress.status();
            state = state.reached(container, now.bytesWritten(), now.damagedPlaces());
            work.journal().write(state);
            throwIfStopping();
            lastNanos = System.nanoTime();
        }
    }

    /**
     * Sets attributes: first of files, then of folders, each after its entries, because making an entry changes its
     * folder's times. The root is last, when the journal records that everything else is done: from then on other users
     * may change the root's contents, and a resumed restore does not touch them.
     */
    private void finish(FileDirectory scratch, EntryLog entries, Destination destination, State state)
            throws IOException {
        progress.phase(Phase.FINISHING);
        try (TupleSort folders = new TupleSort(scratch, "folders", 1, LINKS_BYTES, this::throwIfStopping)) {
            entries.forEach((number, entry) -> {
                throwIfStopping();
                if (entry.isDirectory()) {
                    folders.add(new long[] {-number});
                } else if (!entry.isRoot()) {
                    destination.finish(number, entry);
                }
            });
            TupleSort.Cursor backwards = folders.sorted(Long.MIN_VALUE);
            while (backwards.next()) {
                throwIfStopping();
                long number = -backwards.get(0);
                if (number != EntryLog.ROOT) {
                    destination.finish(number, entries.read(number));
                }
            }
        }
        sync();
        work.journal().write(state.withOnlyRootLeft(progress.lost()));
        TreeEntry entry = entries.read(EntryLog.ROOT);
        destination.finish(EntryLog.ROOT, entry);
        sync();
        if (!entry.isDirectory()) {
            root.publish();
            sync();
        }
    }
}
