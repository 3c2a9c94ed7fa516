package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.restore.ContainerOrderRestore;
import org.opendedup.sar.restore.DiskModel;
import org.opendedup.sar.restore.PlaceWriter;
import org.opendedup.sar.restore.Places;
import org.opendedup.sar.restore.TupleSort;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;
import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.opendedup.sar.volume.Volume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One restore of a file or folder, in the order of the containers. What it needs beside the destination lies in a folder next to
 * it, which goes when all is done. For one use: {@link #run} by one thread; the others may be called by any.
 *
 * <p>Begun again, it walks the tree once more. If that is still the same, files that were made have their places filled from the
 * container on that the journal names: what was written before is durable. The tree is the same if its entries and the references
 * of all its recipes are. So a file that was defragmented meanwhile is another one: a fresh copy may lie in a container below the
 * one that the journal names.
 */
public final class TreeRestore {
    private static final Logger LOG = LoggerFactory.getLogger(TreeRestore.class);
    /** Written again at most after a crash: so many seconds' worth. */
    private static final long MILESTONE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** 200 000 places; ordering and merging them take as much again. */
    private static final int PLACES_BYTES = 8 << 20;

    private static final int LINKS_BYTES = 1 << 20;
    private static final int MAX_DAMAGES = 50;
    /** Of their words: a byte may become six in the JSON of a report, whose line has 64 KiB at most. */
    private static final int MAX_DAMAGES_BYTES = 10 << 10;

    private final Volume volume;
    private final String source;
    private final Path target;
    private final PosixCalls posix;
    private final WorkFolder workFolder;
    private final long milestoneNanos;
    private final long startNanos = System.nanoTime();
    private volatile boolean stopping;

    /** Guarded by this, down to the next blank line. */
    private Phase phase = Phase.WALKING;

    private long entryCount;
    private long bytes;
    private long bytesWritten;
    private long bytesResumed;
    private long damagedPlaces;
    private final List<String> damages = new ArrayList<>();
    private int damagesBytes;
    private long attributesLost;
    /** 0: it has not ended. */
    private long endNanos;

    /**
     * @param source path from the volume's root, for the journal and messages
     * @param target where it goes: an absolute path that must not exist, or be an empty folder, unless an earlier restore of the
     *     same was not finished
     */
    public TreeRestore(Volume volume, String source, Path target) throws IOException {
        this(volume, source, target, MILESTONE_NANOS, new PosixCalls());
    }

    /** As above, with more or fewer milestones. */
    TreeRestore(Volume volume, String source, Path target, long milestoneNanos, PosixCalls posix) throws IOException {
        this.posix = posix;
        this.milestoneNanos = milestoneNanos;
        this.volume = volume;
        this.source = source;
        this.target = target.normalize();
        Path parent = this.target.getParent();
        if (!target.isAbsolute() || parent == null) {
            throw new IOException(target + " is no place to restore to");
        }
        int user = posix.functions().geteuid();
        workFolder = new WorkFolder(parent.resolve("." + this.target.getFileName() + ".sdfs-restore"), user);
    }

    /**
     * Restores.
     *
     * @param inode the tree's root, in use by the caller
     * @throws InterruptedIOException if it was stopped; begun again, it goes on
     */
    public void run(long inode) throws IOException {
        try {
            restore(inode);
            setPhase(Phase.DONE);
        } finally {
            synchronized (this) {
                endNanos = System.nanoTime();
            }
        }
    }

    private synchronized void setPhase(Phase now) {
        phase = now;
    }

    /** Has it stop at the next milestone, soon. */
    public void stop() {
        stopping = true;
    }

    public synchronized RestoreStatus status() {
        long now = endNanos != 0 ? endNanos : System.nanoTime();
        return new RestoreStatus(
                phase,
                entryCount,
                bytes,
                bytesWritten,
                bytesResumed,
                damagedPlaces,
                List.copyOf(damages),
                attributesLost,
                (now - startNanos) / 1e9);
    }

    private void restore(long inode) throws IOException {
        new SafeParents(posix.functions().geteuid()).check(target);
        RestoreJournal journal = workFolder.journal();
        State begun = State.begin(volume.identity().toString(), source);
        boolean hasFolder = workFolder.exists();
        State earlier = hasFolder ? journal.read().orElse(null) : null;
        if (earlier == null) {
            if (!isFree()) {
                throw new IOException(target + " exists already; a restore makes it anew");
            }
            if (!hasFolder) {
                workFolder.make();
            }
            journal.write(begun);
        } else if (!earlier.isOfSame(begun)) {
            throw new IOException(target + " is being restored from another file or volume; " + howToBeginAnew());
        } else if (earlier.tree().isEmpty() && !isFree()) {
            // What is there may be of a tree that has changed since.
            throw new IOException(
                    "the restore to " + target + " was ended before all files were found; " + howToBeginAnew());
        }
        // The tree is to be of one moment, as near as that can be had while it is in use.
        volume.sync();
        FileDirectory scratch = workFolder.emptyScratch();
        try (EntryLog entries = new EntryLog(scratch);
                Places places = new Places(scratch, PLACES_BYTES, this::throwIfStopping);
                Destination destination = new Destination(target, posix)) {
            boolean isMade = earlier != null && !earlier.tree().isEmpty();
            String tree = walk(inode, scratch, entries, new Planning(entries, places, isMade ? null : destination));
            countBytes(places);
            State state = checkTree(earlier == null ? begun : earlier, tree, entries, destination);
            // First what it says was made.
            destination.sync();
            journal.write(state);
            new Filling(entries, destination, journal, state).run(places);
            finish(scratch, entries, destination);
        }
        workFolder.delete();
    }

    /** Whether nothing is there, or an empty folder. */
    private boolean isFree() throws IOException {
        if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
            return !Files.exists(target, LinkOption.NOFOLLOW_LINKS);
        }
        try (Stream<Path> inside = Files.list(target)) {
            return inside.findAny().isEmpty();
        }
    }

    private String howToBeginAnew() {
        return "to begin anew, remove " + target + " and " + workFolder;
    }

    /** Plans everything that has one name, and then what has several. */
    private String walk(long inode, FileDirectory scratch, EntryLog entries, Planning planning) throws IOException {
        try (TupleSort links = new TupleSort(scratch, "links", 2, LINKS_BYTES, this::throwIfStopping)) {
            new TreeWalk(volume, entry -> {
                        throwIfStopping();
                        long number = entries.append(entry);
                        if (entry.isLinked()) {
                            links.add(new long[] {entry.inode(), number});
                        } else {
                            planning.plan(entry, number);
                        }
                        countEntry(planning.places);
                    })
                    .walk(inode);
            planning.planLinked(links.sorted(0));
        }
        return HexFormat.of().formatHex(entries.digest());
    }

    /** The step that makes everything, and notes which bytes go where. */
    private final class Planning {
        private final EntryLog entries;
        private final Places places;
        /** Null: all was made by an earlier restore. */
        private final @Nullable Destination destination;

        Planning(EntryLog entries, Places places, @Nullable Destination destination) {
            this.entries = entries;
            this.places = places;
            this.destination = destination;
        }

        void plan(TreeEntry entry, long number) throws IOException {
            if (entry.isRegular() && entry.size() > 0) {
                volume.forEachReference(entry.inode(), entry.size(), (offset, chunkId, chunkOffset, length, check) -> {
                    throwIfStopping();
                    entries.addReference(number, offset, chunkId, chunkOffset, length);
                    places.add(chunkId, chunkOffset, length, check, number, offset);
                });
            }
            if (destination != null) {
                destination.make(entry);
            }
        }

        /** @param links inode and number of each entry that has other names, by inode */
        void planLinked(TupleSort.Cursor links) throws IOException {
            TreeEntry first = null;
            boolean isThere = false;
            while (links.next()) {
                throwIfStopping();
                TreeEntry entry = entries.read(links.get(1));
                if (first == null || first.inode() != entry.inode()) {
                    first = entry;
                    isThere = planIfThere(entry, links.get(1));
                } else if (isThere && destination != null) {
                    destination.link(first, entry);
                }
            }
        }

        /** False if it was removed since it was visited: it is left out then, like what was removed before. */
        private boolean planIfThere(TreeEntry entry, long number) throws IOException {
            try {
                plan(entry, number);
                return true;
            } catch (PosixException e) {
                if (e.reason() != PosixException.Reason.ESTALE) {
                    throw e;
                }
                LOG.info("inode {} was removed meanwhile and is not restored", entry.inode());
                return false;
            }
        }
    }

    private synchronized void countEntry(Places places) {
        entryCount++;
        bytes = places.bytes();
    }

    private synchronized void countBytes(Places places) {
        bytes = places.bytes();
    }

    private void throwIfStopping() throws InterruptedIOException {
        if (stopping) {
            throw new InterruptedIOException("stopped");
        }
    }

    /** Where to go on. */
    private State checkTree(State state, String tree, EntryLog entries, Destination destination) throws IOException {
        if (state.tree().isEmpty()) {
            return new State(state.volume(), state.source(), tree, 0, 0, 0);
        }
        if (!state.tree().equals(tree)) {
            throw new IOException(
                    source + " was changed since its restore to " + target + " was begun; " + howToBeginAnew());
        }
        entries.forEach((number, entry) -> {
            throwIfStopping();
            if (!destination.isStillThere(entry)) {
                throw new IOException(
                        destination.text(entry) + " was changed since it was restored; " + howToBeginAnew());
            }
        });
        synchronized (this) {
            bytesWritten = state.bytes();
            bytesResumed = state.bytes();
            damagedPlaces = state.damaged();
        }
        return state;
    }

    /** The step that moves the bytes. */
    private final class Filling implements PlaceWriter, ContainerOrderRestore.Milestones {
        private final EntryLog entries;
        private final Destination destination;
        private final RestoreJournal journal;
        private final State begun;
        private long lastNanos = System.nanoTime();

        Filling(EntryLog entries, Destination destination, RestoreJournal journal, State begun) {
            this.entries = entries;
            this.destination = destination;
            this.journal = journal;
            this.begun = begun;
        }

        void run(Places places) throws IOException {
            setPhase(Phase.RESTORING);
            volume.restorer(DiskModel.DEFAULT).restore(places, begun.nextContainer(), this, this);
            reached(ChunkId.MAX_CONTAINER);
        }

        @Override
        public void write(long file, long offset, byte[] data, int from, int length) throws IOException {
            destination.write(file, entries::read, offset, data, from, length);
            synchronized (TreeRestore.this) {
                bytesWritten += length;
            }
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
            String words = name + ": " + length + " bytes at offset " + offset + ": " + why.getMessage();
            LOG.warn("damaged: {}", words);
            int wordsBytes = words.getBytes(StandardCharsets.UTF_8).length;
            synchronized (TreeRestore.this) {
                damagedPlaces++;
                bytesWritten += length;
                if (damages.size() < MAX_DAMAGES && damagesBytes + wordsBytes <= MAX_DAMAGES_BYTES) {
                    damages.add(words);
                    damagesBytes += wordsBytes;
                }
            }
        }

        @Override
        public boolean isDue() {
            return stopping || System.nanoTime() - lastNanos > milestoneNanos;
        }

        @Override
        public void reached(long container) throws IOException {
            destination.sync();
            RestoreStatus now = status();
            journal.write(new State(
                    begun.volume(), begun.source(), begun.tree(), container, now.bytesWritten(), now.damagedPlaces()));
            throwIfStopping();
            lastNanos = System.nanoTime();
        }
    }

    /** Files first, folders then, each after what is in it: for what is made in a folder changes its times. */
    private void finish(FileDirectory scratch, EntryLog entries, Destination destination) throws IOException {
        setPhase(Phase.FINISHING);
        try (TupleSort folders = new TupleSort(scratch, "folders", 1, LINKS_BYTES, this::throwIfStopping)) {
            entries.forEach((number, entry) -> {
                throwIfStopping();
                if (entry.isDirectory()) {
                    folders.add(new long[] {-number});
                } else {
                    finish(entry, destination);
                }
            });
            TupleSort.Cursor backwards = folders.sorted(Long.MIN_VALUE);
            while (backwards.next()) {
                throwIfStopping();
                finish(entries.read(-backwards.get(0)), destination);
            }
        }
        destination.sync();
    }

    private void finish(TreeEntry entry, Destination destination) throws IOException {
        int lost = destination.finish(entry);
        synchronized (this) {
            attributesLost += lost;
        }
    }
}
