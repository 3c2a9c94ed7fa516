package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata of a volume in an object store. Makes them, and opens them on any machine: from nothing, or from what a
 * local folder has of them. An opening for use ends the part of the owner before in the chain; that one can change
 * nothing from then on, also if it was only paused. Whether it may be replaced is for the caller to know.
 *
 * <p>A local folder has the database and nothing else. It is replaced by a rename, so nothing is mounted there. For one
 * thread.
 */
public final class RemoteMetadata {
    private static final Logger log = LoggerFactory.getLogger(RemoteMetadata.class);

    /** An owner that makes checkpoints meanwhile may remove what an opening is about to read. */
    private static final int MOST_TRIES = 5;

    /** An owner that is not dead may put segments as fast as this one reads them. */
    private static final int MOST_RACES = 20;

    /** Changes that change nothing, of one batch. */
    private static final int MOST_NO_CHANGES = 100_000;

    /** A key that no record has. */
    private static final byte[] NO_RECORD = "no record".getBytes(US_ASCII);

    private static final String RESTORING = ".restoring";
    private static final String SALVAGED = ".salvaged";
    private static final String DIVERGED = ".diverged";
    private static final List<String> LEFT =
            List.of(RESTORING, SALVAGED, ShippedKeyValueStore.CHECKPOINT, ShippedKeyValueStore.LEAP);

    private final ObjectStore objects;
    private final UUID volume;
    private final Databases databases;
    private final InstantSource clock;
    private final LongSupplier tokens;
    private final int lanes;
    private final Chain chain;
    private final Checkpoints checkpoints;
    /** Checkpoints that are damaged or not whole, with the reasons. */
    private final Map<String, String> unusable = new TreeMap<>();
    /** How far the log went at least; null: not known. */
    private @Nullable LogEnd noted;
    /** Why the log cannot be read further; null: it can. */
    private @Nullable IOException gap;

    /**
     * @param authenticates of an encrypted volume; null: it is not encrypted
     * @param memoryBytes for the local database; see {@link org.opendedup.sar.metadata.db.KeyValueStores#openRocksDb}
     */
    public RemoteMetadata(
            ObjectStore objects,
            UUID volume,
            @Nullable KeyedHash authenticates,
            long memoryBytes,
            InstantSource clock) {
        this(
                objects,
                volume,
                authenticates,
                Databases.rocksDb(memoryBytes),
                clock,
                new SecureRandom()::nextLong,
                SegmentsAhead.LANES);
    }

    /**
     * @param tokens random numbers
     * @param lanes log segments that are read at the same time
     */
    RemoteMetadata(
            ObjectStore objects,
            UUID volume,
            @Nullable KeyedHash authenticates,
            Databases databases,
            InstantSource clock,
            LongSupplier tokens,
            int lanes) {
        this.objects = objects;
        this.volume = volume;
        this.databases = databases;
        this.clock = clock;
        this.tokens = tokens;
        this.lanes = lanes;
        chain = new Chain(objects, volume, authenticates);
        checkpoints = new Checkpoints(objects, chain, volume, authenticates, clock);
    }

    /**
     * Says how far the log went at least when this was read, before the call of what opens or copies the metadata.
     *
     * @param end what {@link ShippedKeyValueStore#end} returned; null: not known
     * @param place names it in messages
     */
    public RemoteMetadata expecting(@Nullable String end, String place) throws CorruptionException {
        noted = end == null ? null : LogEnd.parse(end, place);
        return this;
    }

    /**
     * Fails if the log ends too early, and the database does not have what is missing.
     *
     * @param owners whose history the database continues
     */
    private void requireEnd(ChainPoint reached, KeyValueStore database, List<Owner> owners) throws IOException {
        LogEnd least = noted;
        if (least == null || reached.number() >= least.number()) {
            return;
        }
        if (!hasUpTo(least, database, owners)) {
            String first = ObjectNaming.segment(reached.owner().lease(), reached.number() + 1);
            throw new MissingSegmentException(first, least);
        }
        log.error(
                "{} has lost log segments from number {} on; they are put again from the local database",
                objects,
                reached.number() + 1);
    }

    private static boolean hasUpTo(LogEnd least, KeyValueStore database, List<Owner> owners) throws IOException {
        return owners.contains(least.owner()) && database.changes() >= least.sequence();
    }

    /**
     * Returns the volume whose metadata are in a store. Needs no key.
     *
     * @throws IOException if there are none
     */
    public static UUID volumeIn(ObjectStore objects) throws IOException {
        return Chain.volumeIn(objects);
    }

    /**
     * How the store that is opened keeps up with the object store.
     *
     * @param barrier asked before each segment
     */
    public record Shipping(Promise promise, DataBarrier barrier, ShippingLimits limits) {}

    /**
     * Makes the metadata of a new volume: an empty local database, and the beginning of the chain.
     *
     * @throws IOException if there is a volume in the store, or a database in the folder; if the store does not answer,
     *     there may be a new volume now, which {@link #open} opens from the folder
     */
    public ShippedKeyValueStore create(Path folder, Shipping how) throws IOException {
        KeyValueStore database = databases.create(folder);
        try {
            Chain.Put begin = chain.begin(Owner.NONE.successor(tokens.getAsLong()), database.changes());
            LocalState state = new LocalState(volume, List.of(begin.point().owner()), begin.point());
            state.write(folder);
            if (chain.put(begin)) {
                Follower follower = new Follower(chain, database, Set.of(), begin.point(), lanes);
                return shipped(begin.point(), new Local(database, state, follower, false), folder, how);
            }
        } catch (IOException | RuntimeException e) {
            database.close();
            throw e;
        }
        database.close();
        PrivateFiles.deleteFolder(folder);
        throw new IOException("there is a volume in " + objects + " already");
    }

    /**
     * Opens the metadata for use and becomes their owner. Reads only what the folder lacks. Changes that the folder has
     * and the store not are put there, unless another owner has gone on without them: then the folder is set aside. A
     * folder that has everything needs nothing of the store, which then gets a checkpoint in place of what is damaged.
     *
     * @throws CorruptionException if something is missing or damaged in the store
     * @throws IOException if the store does not answer; the opening can be tried again
     */
    public ShippedKeyValueStore open(Path folder, Shipping how) throws IOException {
        for (int tries = 1; ; tries++) {
            Local local = bring(folder);
            try {
                if (local.isBehindGap) {
                    return shippedBehindGap(takeOverBehind(local, folder, how.barrier()), local, folder, how);
                }
                ChainPoint begin = takeOver(local, folder, how.barrier());
                if (begin != null) {
                    return shipped(begin, local, folder, how);
                }
            } catch (IOException | RuntimeException e) {
                local.database.close();
                throw e;
            }
            local.database.close();
            if (tries == MOST_TRIES) {
                throw new IOException("other owners open the volume in " + objects + " again and again");
            }
        }
    }

    /**
     * Opens metadata of which something is missing or damaged in the store that {@link #open} needs: takes the newest
     * state that can be read, and gives up what followed it, for good. Becomes their owner as every opening does. What
     * is in the folder is set aside. What can be opened is opened, and nothing is given up.
     *
     * @param lost receives what is given up, as a sentence
     * @throws CorruptionException if no state can be read; nothing was changed
     */
    public ShippedKeyValueStore salvage(Path folder, Shipping how, Consumer<String> lost) throws IOException {
        boolean wasHere = LocalState.read(folder) != null;
        try {
            ShippedKeyValueStore opened = open(folder, how);
            lost.accept("nothing is lost");
            return opened;
        } catch (CorruptionException e) {
            log.warn("the metadata cannot be opened: {}", e.getMessage());
        }
        gap = null;
        Path fresh = sibling(folder, SALVAGED);
        PrivateFiles.deleteFolder(fresh);
        Local readable = newestReadable(fresh);
        readable.database.close();
        String aside = "";
        if (wasHere) {
            aside = "; " + setAside(folder) + " has what was here";
        } else {
            PrivateFiles.deleteFolder(folder);
        }
        AtomicFile.move(fresh, folder);
        Local local = new Local(databases.open(folder), readable.state, readable.follower, true);
        try {
            long reached = local.follower.point().number();
            ChainPoint begin = takeOverBehind(local, folder, how.barrier());
            long last = Math.max(begin.number() - 1, noted == null ? 0 : noted.number());
            String what = gap == null
                    ? "nothing is lost that the store had"
                    : "what the log segments " + (reached + 1) + " to " + last + " changed is lost, because "
                            + gap.getMessage();
            lost.accept(what + aside);
            ShippedKeyValueStore store = shippedBehindGap(begin, local, folder, how);
            store.ship();
            return store;
        } catch (IOException | RuntimeException e) {
            local.database.close();
            throw e;
        }
    }

    private ShippedKeyValueStore shippedBehindGap(ChainPoint begin, Local local, Path folder, Shipping how)
            throws IOException {
        Follower follower = new Follower(chain, local.database, Set.of(begin.owner()), begin, lanes);
        return shipped(begin, new Local(local.database, local.state, follower, true), folder, how);
    }

    /** Makes a local database of the newest whole checkpoint and of the log after it, as far as that can be read. */
    private Local newestReadable(Path folder) throws IOException {
        Checkpoints.Stored newest = restoreNewest(folder);
        LocalState state = Objects.requireNonNull(LocalState.read(folder));
        KeyValueStore database = databases.open(folder);
        try {
            Follower follower = new Follower(chain, database, new HashSet<>(state.owners()), state.point(), lanes);
            try {
                if (follower.follow() != Follower.Outcome.AT_END) {
                    gap = new IOException("the checkpoint that follows is not whole");
                } else {
                    requireEnd(follower.point(), database, state.owners());
                }
            } catch (MissingSegmentException e) {
                gap = e;
            }
            if (newest == null && gap != null && follower.point().number() == 0) {
                throw new CorruptionException(
                        objects.toString(),
                        -1,
                        "a checkpoint of the metadata, or the log from its begin on",
                        "neither");
            }
            return new Local(database, state, follower, true);
        } catch (IOException | RuntimeException e) {
            database.close();
            throw e;
        }
    }

    private Checkpoints.@Nullable Stored restoreNewest(Path folder) throws IOException {
        while (true) {
            Checkpoints.Stored newest = checkpoints.newest(unusable);
            try {
                restore(folder, newest);
                return newest;
            } catch (CorruptionException e) {
                if (newest == null) {
                    throw e;
                }
                unusable.put(newest.name(), String.valueOf(e.getMessage()));
            }
        }
    }

    /** Ends the chain behind its last segment, whatever is before, and makes a database that has more changes. */
    private ChainPoint takeOverBehind(Local local, Path folder, DataBarrier barrier) throws IOException {
        LocalState state = local.state;
        for (int tries = 1; tries <= MOST_RACES; tries++) {
            List<ChainPoint> ends = chain.ends(local.database.changes());
            ChainPoint first = ends.get(0);
            Owner me = ends.get(ends.size() - 1).owner().successor(tokens.getAsLong());
            // After a crash it must be known whose segments these are.
            state = state.with(me, state.point());
            state.write(folder);
            barrier.admit();
            ChainPoint begin = null;
            boolean areAllPut = true;
            for (ChainPoint end : ends) {
                // A folder with later changes has what is given up here.
                long kept = Math.min(end.sequence(), local.database.changes());
                Chain.Put put = chain.after(end, kept, new LogSegment.End(me));
                areAllPut &= chain.put(put);
                begin = begin == null ? put.point() : begin;
            }
            if (begin != null && areAllPut) {
                // Then the store has it put as a checkpoint, to which the chain leaps.
                exceed(local.database, Math.max(begin.sequence(), first.sequence()));
                new LocalState(volume, List.of(me), begin).write(folder);
                return begin;
            }
        }
        throw new IOException("other owners of the volume in " + objects + " put segments at the same time");
    }

    /** Makes changes that change nothing, until there are more than a number of changes. */
    private static void exceed(KeyValueStore database, long changes) throws IOException {
        while (database.changes() <= changes) {
            try (KeyValueStore.Batch batch = database.batch()) {
                long missing = changes + 1 - database.changes();
                for (long i = 0; i < Math.min(missing, MOST_NO_CHANGES); i++) {
                    batch.delete(KeyValueStore.Family.SYSTEM, NO_RECORD);
                }
                batch.commit();
            }
        }
    }

    /**
     * A local database at the end of the chain.
     *
     * @param isBehindGap whether the log cannot be read up to its end, so the next owner begins behind all of it
     */
    private record Local(KeyValueStore database, LocalState state, Follower follower, boolean isBehindGap) {}

    /**
     * Ends the part of the owner before. Returns null if the database cannot follow what happened meanwhile.
     *
     * @throws IOException if the other owners are faster
     */
    private @Nullable ChainPoint takeOver(Local local, Path folder, DataBarrier barrier) throws IOException {
        Follower follower = local.follower;
        LocalState state = local.state;
        for (int tries = 1; tries <= MOST_RACES; tries++) {
            ChainPoint point = follower.point();
            Owner me = point.owner().successor(tokens.getAsLong());
            // After a crash it must be known whose segments these are.
            state = state.with(me, point);
            state.write(folder);
            Chain.Put end = chain.after(point, point.sequence(), new LogSegment.End(me));
            barrier.admit();
            if (chain.put(end)) {
                new LocalState(volume, List.of(me), end.point()).write(folder);
                follower.points().put(end.point().sequence(), end.point());
                shareNewest();
                return end.point();
            }
            try {
                if (follower.follow() != Follower.Outcome.AT_END) {
                    return null;
                }
            } catch (MissingSegmentException e) {
                return null;
            }
        }
        throw new IOException("other owners of the volume in " + objects + " put segments at the same time");
    }

    private void shareNewest() throws IOException {
        Checkpoints.Stored newest = checkpoints.newest(unusable);
        if (newest != null) {
            checkpoints.share(newest.checkpoint());
        }
    }

    private ShippedKeyValueStore shipped(ChainPoint begin, Local local, Path folder, Shipping how) throws IOException {
        // What a crash left shares tables with the database, which would take space when the database has them no more.
        for (String left : LEFT) {
            PrivateFiles.deleteFolder(sibling(folder, left));
        }
        ShippedKeyValueStore.Parts parts = new ShippedKeyValueStore.Parts(
                folder, local.database, databases, chain, checkpoints, how.barrier(), clock);
        Follower at = local.follower;
        // Without a whole checkpoint another machine may find none: the next one is due now.
        long log = unusable.isEmpty() ? at.bytes() : how.limits().checkpointBytes();
        return new ShippedKeyValueStore(parts, how.promise(), how.limits(), begin, at.points(), log);
    }

    /** Brings a local folder to the end of the chain, and opens it. */
    private Local bring(Path folder) throws IOException {
        IOException missing = new IOException("the log segments that follow a checkpoint");
        for (int tries = 1; tries <= MOST_TRIES; tries++) {
            Checkpoints.Stored newest = checkpoints.newest(unusable);
            try {
                Local local = tryToBring(folder, newest);
                if (local != null) {
                    return local;
                }
                missing = gap == null ? missing : gap;
            } catch (NoSuchFileException | MissingSegmentException e) {
                missing = e;
            }
        }
        throw incomplete(missing);
    }

    private CorruptionException incomplete(IOException missing) {
        String why = unusable.isEmpty() ? missing.getMessage() : String.join("; ", unusable.values());
        CorruptionException incomplete =
                new CorruptionException(objects.toString(), -1, "all objects of the metadata", "not all: " + why);
        incomplete.initCause(missing);
        return incomplete;
    }

    /** Returns null if the folder is of no use any more, and has made room for another. */
    private @Nullable Local tryToBring(Path folder, Checkpoints.@Nullable Stored newest) throws IOException {
        LocalState state = LocalState.read(folder);
        if (state == null) {
            requireEmpty(folder);
            try {
                restore(folder, newest);
            } catch (CorruptionException e) {
                if (newest == null) {
                    throw e;
                }
                log.warn("a checkpoint of the metadata is not used: {}", e.getMessage());
                unusable.put(newest.name(), String.valueOf(e.getMessage()));
                return null;
            }
            state = Objects.requireNonNull(LocalState.read(folder));
        }
        if (!state.volume().equals(volume)) {
            throw new IOException(folder + " has metadata of volume " + state.volume() + ", not of " + volume);
        }
        KeyValueStore database = databases.open(folder);
        Follower.Outcome outcome;
        try {
            Set<Owner> owners = new HashSet<>(state.owners());
            Follower follower = new Follower(chain, database, owners, start(state, newest, database.changes()), lanes);
            try {
                outcome = follow(follower, state, newest, database);
            } finally {
                state = reached(folder, state, follower, database);
            }
            if (outcome == Follower.Outcome.AT_END) {
                requireEnd(follower.point(), database, List.copyOf(owners));
            }
            if (outcome == Follower.Outcome.AT_END || outcome == Follower.Outcome.BEHIND_GAP) {
                return new Local(database, state, follower, outcome == Follower.Outcome.BEHIND_GAP);
            }
        } catch (IOException | RuntimeException e) {
            database.close();
            throw e;
        }
        makeRoom(folder, outcome, database);
        return null;
    }

    /** Notes how far a database has followed: the ends of parts that it has passed are not those of its own changes. */
    private LocalState reached(Path folder, LocalState before, Follower follower, KeyValueStore database)
            throws IOException {
        ChainPoint point = follower.point();
        if (point.equals(before.point()) || database.changes() != point.sequence()) {
            return before;
        }
        LocalState state = new LocalState(volume, List.of(point.owner()), point);
        state.write(folder);
        return state;
    }

    private static void requireEmpty(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            try (var files = Files.list(folder)) {
                if (files.findAny().isPresent()) {
                    throw new IOException(folder + " has no file " + LocalState.NAME + ", which says what it has to do"
                            + " with the object store. Move it away to have the metadata restored from there");
                }
            }
            Files.delete(folder);
        }
    }

    /** Returns the latest point of the chain from which the database can be followed. */
    private static ChainPoint start(LocalState state, Checkpoints.@Nullable Stored newest, long changes) {
        ChainPoint point = state.point();
        if (newest == null) {
            return point;
        }
        ChainPoint later = newest.checkpoint().point();
        boolean isOurs = state.owners().contains(later.owner());
        return isOurs && later.number() > point.number() && changes >= later.sequence() ? later : point;
    }

    private Follower.Outcome follow(
            Follower follower, LocalState state, Checkpoints.@Nullable Stored newest, KeyValueStore database)
            throws IOException {
        try {
            return follower.follow();
        } catch (MissingSegmentException e) {
            gap = e;
            if (hasAll(database, state, newest)) {
                return Follower.Outcome.BEHIND_GAP;
            }
            if (newest == null
                    || newest.checkpoint().point().number() <= follower.point().number()) {
                throw e;
            }
            long changes = database.changes();
            boolean isOurs = state.owners().contains(newest.checkpoint().point().owner());
            if (e.isDamage() && !isOurs) {
                // A salvage may have given up what is here.
                boolean hasMore = changes > follower.point().sequence();
                return hasMore ? Follower.Outcome.DIVERGED : Follower.Outcome.LEFT_BEHIND;
            }
            for (Owner owner : state.owners()) {
                Chain.Link end = chain.end(owner);
                boolean isPassed =
                        end != null && end.point().number() <= follower.point().number();
                if (end != null
                        && !isPassed
                        && !state.owners().contains(end.point().owner())) {
                    return changes > end.segment().last() ? Follower.Outcome.DIVERGED : Follower.Outcome.LEFT_BEHIND;
                }
            }
            if (changes > newest.checkpoint().sequence()) {
                throw e;
            }
            return Follower.Outcome.LEFT_BEHIND;
        }
    }

    /** Returns whether a database has what the whole log has, which ends with an owner whose history it continues. */
    private boolean hasAll(KeyValueStore database, LocalState state, Checkpoints.@Nullable Stored newest)
            throws IOException {
        List<ChainPoint> ends = chain.ends(database.changes());
        ChainPoint end = ends.get(0);
        LogEnd least = noted;
        if (least != null && end.number() < least.number() && !hasUpTo(least, database, state.owners())) {
            return false;
        }
        if (ends.size() == 1) {
            return state.owners().contains(end.owner()) && database.changes() >= end.sequence();
        }
        // The last segment cannot be read. Who has more than the one before it, and not by a checkpoint, has put it.
        if (newest != null && database.changes() <= newest.checkpoint().sequence()) {
            return false;
        }
        try {
            Chain.Link before = chain.find(ObjectNaming.segment(end.owner().lease(), end.number() - 1));
            return before != null
                    && state.owners().contains(before.point().owner())
                    && database.changes() > before.point().sequence();
        } catch (CorruptionException e) {
            return false;
        }
    }

    private static void makeRoom(Path folder, Follower.Outcome outcome, KeyValueStore database) throws IOException {
        long changes = database.changes();
        database.close();
        if (outcome == Follower.Outcome.LEFT_BEHIND) {
            PrivateFiles.deleteFolder(folder);
            return;
        }
        log.error(
                "another machine has opened the volume before the last changes here (up to number {}) were in the"
                        + " object store, or has given them up, because the log there is damaged. They are lost to the"
                        + " volume; {} has what was here",
                changes,
                setAside(folder));
    }

    /** Gives a folder another name, which is returned. */
    private static Path setAside(Path folder) throws IOException {
        Path aside = sibling(folder, DIVERGED);
        for (int i = 2; Files.exists(aside); i++) {
            aside = sibling(folder, DIVERGED + i);
        }
        AtomicFile.move(folder, aside);
        return aside;
    }

    private static Path sibling(Path folder, String suffix) {
        return folder.resolveSibling(folder.getFileName() + suffix);
    }

    /** Makes a folder from a checkpoint, or from the beginning of the chain. */
    private void restore(Path folder, Checkpoints.@Nullable Stored newest) throws IOException {
        Path fresh = sibling(folder, RESTORING);
        PrivateFiles.deleteFolder(fresh);
        ChainPoint point;
        if (newest == null) {
            point = chain.begin().point();
            try (KeyValueStore empty = databases.create(fresh)) {
                if (empty.changes() != point.sequence()) {
                    throw new IOException("a new database begins with change " + empty.changes() + ", the volume in "
                            + objects + " with " + point.sequence() + ": another program has made it");
                }
            }
        } else {
            point = newest.checkpoint().point();
            PrivateFiles.createFolders(fresh);
            checkpoints.copyTo(newest.checkpoint(), fresh);
        }
        new LocalState(volume, List.of(point.owner()), point).write(fresh);
        AtomicFile.move(fresh, folder);
    }

    /**
     * Copies the newest state into an empty folder, or brings an earlier copy up to it. Does not become the owner: to
     * read the volume elsewhere. It must not have been opened for use.
     */
    public void copyTo(Path folder) throws IOException {
        copied(folder).close();
    }

    /**
     * Brings a copy to the end of the chain, and notes how far it is: else the next call would take what later owners
     * have put for changes of this machine, which the store does not have.
     */
    private KeyValueStore copied(Path folder) throws IOException {
        Local local = bring(folder);
        try {
            if (local.isBehindGap) {
                throw incomplete(Objects.requireNonNull(gap));
            }
            ChainPoint point = local.follower.point();
            new LocalState(volume, List.of(point.owner()), point).write(folder);
            return local.database;
        } catch (IOException | RuntimeException e) {
            local.database.close();
            throw e;
        }
    }

    /** Returns what was found damaged and was not needed so far: a sentence for each checkpoint. */
    public List<String> unusable() {
        return List.copyOf(unusable.values());
    }

    /**
     * As above; then makes a second copy of that state, of which anything may be changed.
     *
     * @param fork must not exist; its parent is on the file system of {@code folder}
     */
    public void copyTo(Path folder, Path fork) throws IOException {
        try (KeyValueStore database = copied(folder)) {
            if (!database.checkpoint(fork)) {
                throw new IOException("the metadata are in no database with files");
            }
        }
    }
}
