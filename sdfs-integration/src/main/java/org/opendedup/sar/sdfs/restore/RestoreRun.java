package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.metadata.record.EntryNames;
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
record RestoreRun(
        Volume volume,
        String source,
        DestinationRoot root,
        WorkFolder work,
        Libc posix,
        RestoreProgress progress,
        RestoreStop stop,
        long milestoneNanos,
        String howToBeginAnew) {
    private static final Logger LOG = LoggerFactory.getLogger(RestoreRun.class);
    /** Memory for 200 000 places, in bytes; sorting and merging need the same amount again. */
    private static final int PLACES_BYTES = 8 << 20;

    private static final int LINKS_BYTES = 1 << 20;

    /**
     * Restores a tree, starting from the state that an earlier restore reached.
     *
     * @param inode the tree's root, in use by the caller
     */
    void restore(long inode, State from) throws IOException {
        FileDirectory scratch = work.emptyScratch();
        try (Pins.Pin pin = stop.pin();
                EntryLog entries = new EntryLog(scratch);
                Places places = new Places(scratch, PLACES_BYTES, stop::throwIfStopped);
                Destination destination = new Destination(posix, entries, root, progress, howToBeginAnew)) {
            MadeTree made = from.tree().isEmpty() ? null : new MadeTree(destination, from);
            if (made != null) {
                reopenRoot(TreeWalk.root(volume, inode), from);
            }
            TreePlan plan = new TreePlan(
                    volume,
                    entries,
                    places,
                    destination,
                    progress,
                    stop::throwIfStopped,
                    made == null ? destination::make : made,
                    made != null);
            walk(inode, scratch, entries, plan, places);
            progress.found(places.bytes());
            State now = from.made(
                    hex(entries.tree()),
                    hex(entries.contents()),
                    root.handle().status().inode(),
                    progress.status().damagedPlaces());
            State state = made == null ? now : made.resumed(now, entries, plan);
            // Make durable what the journal will report as made.
            sync();
            record(state);
            State filled = new Filling(entries, destination, plan, state).run(places);
            finish(scratch, entries, destination, plan, filled);
        }
    }

    private static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
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
                Destination destination = new Destination(posix, entries, root, progress, howToBeginAnew)) {
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

    /** Records a state, unless chunks may have been collected since it was reached. */
    private void record(State state) throws IOException {
        stop.throwIfAbandoned();
        work.journal().write(state);
    }

    /** Plans all entries with one name, and then those with several. */
    private void walk(long inode, FileDirectory scratch, EntryLog entries, TreePlan plan, Places places)
            throws IOException {
        try (TupleSort links = new TupleSort(scratch, "links", 2, LINKS_BYTES, stop::throwIfStopped, null)) {
            new TreeWalk(volume, new Finding(entries, plan, places, links)).walk(inode);
            plan.planLinked(links.sorted(0));
        }
    }

    /** Records the entries that the walk finds. */
    private final class Finding implements TreeWalk.Visitor {
        private final EntryLog entries;
        private final TreePlan plan;
        private final Places places;
        /** Inode and number of each entry that has other names. */
        private final TupleSort links;

        Finding(EntryLog entries, TreePlan plan, Places places, TupleSort links) {
            this.entries = entries;
            this.plan = plan;
            this.places = places;
            this.links = links;
        }

        @Override
        public long visit(TreeEntry entry) throws IOException {
            stop.throwIfStopped();
            long number;
            if (entry.isLinked() && !entry.isRoot()) {
                number = entries.append(entry);
                links.add(new long[] {entry.inode(), number});
            } else {
                number = plan.plan(entry);
            }
            progress.foundEntry();
            progress.found(places.bytes());
            return number;
        }

        @Override
        public void unreadable(long parent, byte @Nullable [] name, IOException why) throws IOException {
            stop.throwIfStopped();
            String folder = entries.text(root.toString(), entries.read(parent));
            progress.damaged(
                    name == null
                            ? folder + ": what else is in it cannot be listed: " + why.getMessage()
                            : folder + "/" + EntryNames.text(name) + ": " + why.getMessage());
        }
    }

    /** The entries that an earlier restore has made. */
    private final class MadeTree implements TreePlan.Maker {
        private final Destination destination;
        private final State from;
        /** Whether the journal says that all files have the bytes which the earlier restore wrote. */
        private boolean isRecorded = true;
        /** Whether they have, but for files that were copied. */
        private boolean isWhole = true;

        MadeTree(Destination destination, State from) {
            this.destination = destination;
            this.from = from;
        }

        @Override
        public boolean make(TreeEntry entry) throws IOException {
            if (destination.isThere(entry)) {
                return true;
            }
            // It could not be made, or was removed.
            if (!entry.isRegular()) {
                return destination.make(entry);
            }
            replacesBytes();
            boolean isMade = destination.make(entry);
            isWhole &= !isMade;
            return isMade;
        }

        /** After a crash, the file may have a part of its bytes: then all are written again, whatever is found. */
        @Override
        public void replacesBytes() throws IOException {
            if (isRecorded) {
                record(from.withoutContents());
                isRecorded = false;
            }
        }

        /**
         * Checks that the tree is as it was, and the destination as the earlier restore left it; returns the state to
         * continue from. If bytes changed, or moved to other containers, all of them are written again.
         */
        State resumed(State now, EntryLog entries, TreePlan plan) throws IOException {
            if (!from.tree().equals(now.tree())) {
                throw new IOException((source.isEmpty() ? "the volume" : source) + " was changed since its restore to "
                        + root + " was begun; " + howToBeginAnew);
            }
            boolean isSame = isWhole && from.contents().equals(now.contents());
            if (!isSame) {
                LOG.info(
                        EachEvent.MARKER,
                        "files of {} were written or stored elsewhere since their restore was begun: all bytes are"
                                + " written again",
                        source);
                replacesBytes();
            }
            entries.forEach((number, entry) -> {
                stop.throwIfStopped();
                if (!entry.isRegular() || plan.isCopied(number)) {
                    return;
                }
                if (!isSame) {
                    destination.clear(number, entry.size());
                } else if (!destination.hasLength(entry)) {
                    throw new IOException(
                            destination.text(entry) + " was changed since it was restored; " + howToBeginAnew);
                }
            });
            if (!isSame) {
                return now;
            }
            progress.resumed(from);
            return from;
        }
    }

    /** The step that writes the bytes. */
    private final class Filling implements PlaceWriter, ContainerOrderRestore.Milestones {
        private final EntryLog entries;
        private final Destination destination;
        private final TreePlan plan;
        private State state;
        /** Bytes that an earlier restore wrote. */
        private final long bytesResumed;

        private long lastNanos = System.nanoTime();

        Filling(EntryLog entries, Destination destination, TreePlan plan, State state) {
            this.entries = entries;
            this.destination = destination;
            this.plan = plan;
            this.state = state;
            bytesResumed = state.bytes();
        }

        State run(Places places) throws IOException {
            progress.phase(Phase.RESTORING);
            volume.maintenance().restorer().restore(places, state.nextContainer(), this, this);
            reached(ChunkId.MAX_CONTAINER, progress.placed() - bytesResumed);
            return state;
        }

        @Override
        public void write(long file, long offset, byte[] data, int from, int length) throws IOException {
            stop.throwIfAbandoned();
            if (!plan.isCopied(file)) {
                destination.write(file, offset, data, from, length);
            }
            progress.wrote(length);
        }

        @Override
        public void damaged(long file, long offset, int length, IOException why) {
            progress.wrote(length);
            if (plan.isCopied(file)) {
                return;
            }
            String name;
            try {
                name = destination.text(entries.read(file));
            } catch (IOException e) {
                name = "file " + file;
                why.addSuppressed(e);
            }
            progress.damaged(name + ": " + length + " bytes at offset " + offset + ": " + why.getMessage());
        }

        @Override
        public boolean isDue() {
            return stop.isStopped() || System.nanoTime() - lastNanos > milestoneNanos;
        }

        @Override
        public void reached(long container, long bytes) throws IOException {
            sync();
            RestoreStatus now = progress.status();
            state = state.reached(container, bytesResumed + bytes, now.damagedPlaces());
            record(state);
            stop.throwIfStopped();
            lastNanos = System.nanoTime();
        }
    }

    /**
     * Sets attributes: first of files, then of folders, each after its entries, because making an entry changes its
     * folder's times. The root is last, when the journal records that everything else is done: from then on other users
     * may change the root's contents, and a resumed restore does not touch them.
     */
    private void finish(FileDirectory scratch, EntryLog entries, Destination destination, TreePlan plan, State state)
            throws IOException {
        progress.phase(Phase.FINISHING);
        try (TupleSort folders = new TupleSort(scratch, "folders", 1, LINKS_BYTES, stop::throwIfStopped, null)) {
            entries.forEach((number, entry) -> {
                stop.throwIfStopped();
                if (entry.isDirectory()) {
                    folders.add(new long[] {-number});
                } else if (!entry.isRoot()) {
                    destination.finish(number, plan.atItsBytes(number, entry));
                }
            });
            TupleSort.Cursor backwards = folders.sorted(Long.MIN_VALUE);
            while (backwards.next()) {
                stop.throwIfStopped();
                long number = -backwards.get(0);
                if (number != EntryLog.ROOT) {
                    destination.finish(number, entries.read(number));
                }
            }
        }
        sync();
        RestoreStatus now = progress.status();
        record(state.withOnlyRootLeft(
                now.attributesLost() + now.entriesLost() + now.filesChanging(), now.filesMissing()));
        TreeEntry entry = plan.atItsBytes(EntryLog.ROOT, entries.read(EntryLog.ROOT));
        destination.finish(EntryLog.ROOT, entry);
        sync();
        if (!entry.isDirectory()) {
            root.publish();
            sync();
        }
    }
}
