package org.opendedup.sar.metadata;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.counts.DamageRecords;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.pending.ContainerUpdate;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.pending.IdAllocator;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.pending.Uncommitted;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.recipes.RecipeRanges;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.metadata.versions.StateDifference;

/**
 * The metadata database with its pending changes. Changes are collected in the pending generation and are visible to
 * every reader; {@link #freeze} ends it, and {@link #commit} writes it in one atomic, durable batch while the next
 * generation collects changes.
 *
 * <p>Reads may run at any time from any thread. Changes may run concurrently with each other and with a commit, but not
 * with {@code freeze}: the caller holds a lock shared for changes, and exclusively for {@code freeze}.
 */
public final class MetadataStore implements Closeable {
    /**
     * Inode numbers reserved at a time. At 5000 new files per second this is about one reservation, and so one sync,
     * per second.
     */
    private static final int INODE_BLOCK = 4096;

    /** Container ids reserved at a time: one sync per 1 GiB written, with containers of 4 MiB. */
    private static final int CONTAINER_BLOCK = 256;

    /**
     * The same if the metadata follow into an object store. Packs have their numbers from these ids, and no two owners
     * of the volume may give an object the same name; so the store must have the reservation first. That waits for all
     * that was written before: once in 64 GiB.
     */
    private static final int SHIPPED_CONTAINER_BLOCK = 16_384;

    /** Cache size while formatting, in bytes: nothing is read twice then. */
    private static final long FORMAT_CACHE_BYTES = 1 << 20;

    /** Name of snapshots of which readers do not see the name. */
    private static final String UNSEEN = ".unseen";

    private final KeyValueStore database;
    private final MetadataHeader header;
    private final Overlay overlay;
    private final Namespace namespace;
    private final RecipeStore recipes;
    private final RecipeRanges ranges;
    private final StreamLogs streamLogs;
    private final IntentRecords intents;
    private final RawRecords raws;
    private final ReferenceCounts counts;
    private final DamageRecords damage;
    private final ContainerTable containers;
    private final Quotas quotas;
    private final IdAllocator inodes;
    /** Of the inodes that this opening makes; see {@link Inode#generation}. */
    private final long inodeGeneration = newGeneration();

    private final IdAllocator containerIds;
    private final EpochHistory epochs;
    private final Snapshots snapshots;
    private final Set<Unseen> uncommittedSnapshots = ConcurrentHashMap.newKeySet();
    private final LocationRecords locations;
    /** Containers whose entries are to be changed when they can be read. */
    private volatile Set<Long> unreadEntries = Set.of();
    /** Written with this object's lock held. */
    private volatile long logicalBytes;
    /** Written with this object's lock held. */
    private volatile long files;
    /** The totals in the last frozen generation; guarded by the caller's lock. */
    private Totals frozenTotals;

    /** A snapshot that readers see, or that is freed, when the commit of its generation is durable. */
    private record Unseen(SnapshotRecord record, long generation) {}

    private MetadataStore(KeyValueStore database, MetadataHeader header, long cacheBytes, NameHash nameHash)
            throws IOException {
        this.database = database;
        this.header = header;
        snapshots = Snapshots.open(database);
        overlay = new Overlay(database, snapshots);
        namespace = new Namespace(overlay, snapshots, nameHash);
        // A page of 256 KiB with chunks of 4 KiB takes 1.4 KB decoded, its counts 0.5 KB.
        frozenTotals = SystemRecords.decodeTotals(StoredRecords.system(database, SystemRecords.TOTALS));
        damage = new DamageRecords(overlay);
        counts = new ReferenceCounts(overlay, frozenTotals.stored(), damage, cacheBytes / 4);
        containers = ContainerTable.open(database);
        quotas = Quotas.open(overlay);
        recipes = new RecipeStore(overlay, snapshots, counts, header.pageBytes(), cacheBytes - cacheBytes / 4);
        ranges = new RecipeRanges(recipes, counts);
        streamLogs = new StreamLogs(overlay, counts);
        intents = new IntentRecords(overlay);
        raws = new RawRecords(overlay);
        inodes = allocator(SystemRecords.NEXT_INODE, INODE_BLOCK, false, 0);
        // The last ids that an owner before has reserved are those of containers whose packs have numbers above them.
        // The object store may lack these packs, and packs that are written anew have ids as numbers.
        containerIds = database.isShipped()
                ? allocator(SystemRecords.NEXT_CONTAINER, SHIPPED_CONTAINER_BLOCK, true, ChunkId.MOST_PACK_AHEAD)
                : allocator(SystemRecords.NEXT_CONTAINER, CONTAINER_BLOCK, true, 0);
        epochs = EpochHistory.open(database, header.volume());
        locations = new LocationRecords(database);
        logicalBytes = frozenTotals.logicalBytes();
        files = frozenTotals.files();
    }

    /**
     * Writes the header of a new volume's metadata into an empty database; the caller creates the root directory. The
     * result has only small caches: close it and {@link #open} it for use.
     *
     * @throws IOException if the database is not empty
     */
    public static MetadataStore format(KeyValueStore database, MetadataHeader header) throws IOException {
        for (Family family : Family.values()) {
            try (Cursor cursor = database.scan(family, Keys.FIRST, Keys.END)) {
                if (cursor.next()) {
                    throw new IOException("the metadata database is not empty: it can't be made into a new volume's");
                }
            }
        }
        SecureRandom random = new SecureRandom();
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.HEADER, SystemRecords.encodeHeader(header));
            batch.put(
                    Family.SYSTEM,
                    SystemRecords.NAME_HASH,
                    SystemRecords.encodeNameHash(random.nextLong(), random.nextLong(), database.isSealed()));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(Inode.ROOT + 1));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_CONTAINER, SystemRecords.encodeNumber(1));
            batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(Totals.NONE));
            batch.put(Family.SYSTEM, SystemRecords.CONTAINERS, SystemRecords.encodeContainers(ContainerSummary.NONE));
            EpochHistory.format(batch, random.nextLong());
            batch.commit();
        }
        return open(database, FORMAT_CACHE_BYTES);
    }

    /**
     * Opens a volume's metadata. Closing the result closes the database.
     *
     * @param cacheBytes bound of the caches of decoded records, in heap bytes
     * @throws org.opendedup.sar.common.UnsupportedFormatException if another program version created it
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged, or is not a volume's metadata
     */
    public static MetadataStore open(KeyValueStore database, long cacheBytes) throws IOException {
        return open(database, cacheBytes, null);
    }

    /** @param nameHash hash of names; null for the volume's own */
    static MetadataStore open(KeyValueStore database, long cacheBytes, @Nullable NameHash nameHash) throws IOException {
        MetadataHeader header = SystemRecords.decodeHeader(StoredRecords.system(database, SystemRecords.HEADER));
        NameHash ownHash = SystemRecords.decodeNameHash(StoredRecords.system(database, SystemRecords.NAME_HASH));
        return new MetadataStore(database, header, cacheBytes, nameHash == null ? ownHash : nameHash);
    }

    public MetadataHeader header() {
        return header;
    }

    public Namespace namespace() {
        return namespace;
    }

    public RecipeStore recipes() {
        return recipes;
    }

    public RecipeRanges ranges() {
        return ranges;
    }

    /** Returns the snapshots; they are changed by methods of this class. */
    public Snapshots snapshots() {
        return snapshots;
    }

    /**
     * Returns what a snapshot and a later one, or the committed present state, do not have in common.
     *
     * @param from number of a snapshot, or 0
     * @param to number of a later one, or {@link StateDifference#PRESENT}
     */
    public StateDifference difference(long from, long to) {
        return new StateDifference(database, snapshots, from, to);
    }

    /**
     * Makes a snapshot: the generation that is frozen next is the last one that it has. Called directly before
     * {@link #freeze}, with all changes excluded. Readers see it when that generation is durable.
     *
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     */
    public SnapshotRecord createSnapshot(String name, long nowMs, long heldUntilMs, boolean isScheduled)
            throws IOException {
        return createSnapshot(name, nowMs, heldUntilMs, isScheduled, null);
    }

    /**
     * Makes a snapshot that is a copy of one of another volume, as above.
     *
     * @param origin that snapshot; null: it is none
     */
    public SnapshotRecord createSnapshot(
            String name, long createdMs, long heldUntilMs, boolean isScheduled, @Nullable SnapshotIdentity origin)
            throws IOException {
        SnapshotRecord record = nextSnapshot(name, createdMs, heldUntilMs, isScheduled, origin);
        put(record, record);
        uncommittedSnapshots.add(new Unseen(record, overlay.pending().number()));
        return record;
    }

    /**
     * Makes a snapshot as {@link #createSnapshot} does, for as long as the volume is open at most: readers do not see
     * its name, and it is stored as a deleted one. {@link #deleteSnapshot} ends it.
     */
    public SnapshotRecord createUnseenSnapshot(long nowMs) throws IOException {
        SnapshotRecord record = nextSnapshot(UNSEEN, nowMs, 0, false, null);
        put(record, record.deleted());
        return record;
    }

    private SnapshotRecord nextSnapshot(
            String name, long createdMs, long heldUntilMs, boolean isScheduled, @Nullable SnapshotIdentity origin)
            throws IOException {
        Totals now = totals();
        return new SnapshotRecord(
                snapshots.nextNumber(),
                name,
                createdMs,
                heldUntilMs,
                isScheduled,
                false,
                inodes.skipTo(0),
                now.logicalBytes(),
                now.files(),
                origin);
    }

    private void put(SnapshotRecord record, SnapshotRecord stored) {
        overlay.put(Family.SYSTEM, stored.key(), stored.encode());
        overlay.put(Family.SYSTEM, SystemRecords.NEXT_SNAPSHOT, SystemRecords.encodeNumber(record.number() + 1));
        snapshots.created(record);
    }

    /**
     * Deletes a snapshot, as {@link #createSnapshot} makes one. {@link RecipeStore#release} frees what only it had,
     * when this is durable, and {@link #forgetSnapshot} ends that.
     */
    public void deleteSnapshot(SnapshotRecord record, long nowMs) {
        SnapshotRecord deleted = record.deleted();
        overlay.put(Family.SYSTEM, deleted.key(), deleted.encode());
        snapshots.deleted(deleted, nowMs);
        uncommittedSnapshots.add(new Unseen(deleted, overlay.pending().number()));
    }

    /**
     * Returns whether a snapshot is deleted, and that is not durable. Otherwise all that were deleted before the call
     * are among {@link Snapshots#deleted}, or freed.
     */
    public boolean isDeletingSnapshot() {
        return uncommittedSnapshots.stream().anyMatch(unseen -> unseen.record.isDeleted());
    }

    /** Changes until when a snapshot must not be deleted; a change like any other. */
    public void holdSnapshot(SnapshotRecord record, long untilMs) {
        SnapshotRecord held = record.heldUntil(untilMs);
        overlay.put(Family.SYSTEM, held.key(), held.encode());
        snapshots.changed(held);
    }

    /** Removes the record of a deleted snapshot of which nothing is left; a change like any other. */
    public void forgetSnapshot(SnapshotRecord record) {
        overlay.remove(Family.SYSTEM, record.key());
        snapshots.freed(record.number());
    }

    /** Returns the rollback that is not finished; null if there is none. */
    public @Nullable RollbackRecord rollback() throws IOException {
        byte[] value = overlay.get(Family.SYSTEM, SystemRecords.ROLLBACK);
        return value == null ? null : RollbackRecord.decode(value);
    }

    /** Asks the next opening for a rollback; a change like any other. */
    public void putRollback(RollbackRecord record) {
        overlay.put(Family.SYSTEM, SystemRecords.ROLLBACK, record.encode());
    }

    /** Returns the logs of the streams of a volume of chunks, which has no files with recipes. */
    public StreamLogs streamLogs() {
        return streamLogs;
    }

    public IntentRecords intents() {
        return intents;
    }

    public RawRecords raws() {
        return raws;
    }

    public ReferenceCounts counts() {
        return counts;
    }

    /** Returns the record of damage; {@link #counts} has the marks that belong to it. */
    public DamageRecords damage() {
        return damage;
    }

    /** Returns the container table, as of the last commit. */
    public ContainerTable containers() {
        return containers;
    }

    /** Returns what each user, group and project uses. */
    public Quotas quotas() {
        return quotas;
    }

    /** Returns the epochs of this metadata; {@link #beginEpoch} adds one. */
    public EpochHistory epochs() {
        return epochs;
    }

    /** Returns the data locations that were added to the volume. */
    public LocationRecords locations() {
        return locations;
    }

    /**
     * Begins a new epoch, durably, in which no container id below {@code freeContainer} is allocated.
     *
     * @param freeContainer an id above every container id that is known from any source
     */
    public void beginEpoch(long freeContainer) throws IOException {
        epochs.begin(new SecureRandom().nextLong(), containerIds.skipTo(freeContainer));
    }

    /**
     * Begins a new epoch of metadata that were restored from a backup, durably: what other epochs of the volume did
     * after the backup is then of another history.
     *
     * @param firstUnknown ids from this one on are not in the container table
     */
    public void branch(long firstUnknown) throws IOException {
        epochs.begin(new SecureRandom().nextLong(), firstUnknown);
    }

    /**
     * Returns another generation for each opening. A number of an inode is used again in another volume, after a
     * restore of the metadata or of the whole volume from a backup, and if another machine gave it to a file that never
     * came into the object store. Somebody may have a handle of NFS to the file that had it before.
     */
    private static long newGeneration() {
        return new SecureRandom().nextInt(2, Integer.MAX_VALUE);
    }

    /** Returns a number that rises with each committed change, also over openings. */
    public long changes() throws IOException {
        return database.changes();
    }

    /** Reads the copy in an object store, and mends it, as {@link KeyValueStore#mendCopy} does. */
    public List<String> mendCopy(KeyValueStore.Reading reading) throws IOException {
        return database.mendCopy(reading);
    }

    /** Copies the database as {@link KeyValueStore#checkpoint} does; false if it has no files. */
    public boolean checkpoint(Path target) throws IOException {
        return database.checkpoint(target);
    }

    /** Returns the first container id that was not allocated. */
    public long firstFreeContainer() throws IOException {
        return containerIds.skipTo(0);
    }

    /**
     * Returns an inode number that was never used, 2 or higher; in a volume of chunks, the number of a stream's log.
     * Can fail only when a new block of them must be reserved, or with ENOSPC after {@link SnapshotIds#MAX_INODE}.
     */
    public long nextInode() throws IOException {
        long next = inodes.next();
        if (next > SnapshotIds.MAX_INODE) {
            throw new PosixException(Reason.ENOSPC, "the volume has made as many inodes as it can number");
        }
        return next;
    }

    /** Lets {@link #nextInode} return no number below this one from now on, durably. */
    public void skipInodes(long first) throws IOException {
        inodes.skipTo(first);
    }

    /** Returns the generation of new inodes: see {@link Inode#generation}. */
    public long inodeGeneration() {
        return inodeGeneration;
    }

    /**
     * Returns a container id that was never used, 1 or higher. Can fail only when a new block of them must be reserved.
     */
    public long nextContainer() throws IOException {
        return containerIds.next();
    }

    public Totals totals() {
        return new Totals(logicalBytes, files, counts.stored());
    }

    /** Adds to the running totals, as a change like any other. {@link ReferenceCounts} counts the stored copies. */
    public synchronized void addToTotals(long moreLogicalBytes, long moreFiles) {
        logicalBytes += moreLogicalBytes;
        files += moreFiles;
    }

    /** Adds to the running totals, and to what is counted for an account, as a change like any other. */
    public void count(Account account, long moreLogicalBytes, long moreFiles) {
        addToTotals(moreLogicalBytes, moreFiles);
        quotas.count(account, moreLogicalBytes, moreFiles);
    }

    /**
     * Counts a new inode, as a change like any other. EDQUOT.
     *
     * @param isExempt whether quotas do not matter, as for root
     */
    public void countNew(Account account, boolean isExempt) throws PosixException {
        quotas.addFile(account, isExempt);
        addToTotals(0, 1);
    }

    /** Returns the account that an inode is charged to. */
    public Account account(Inode inode) throws IOException {
        return quotas.account(inode.uid(), inode.gid(), inode.project());
    }

    /** Returns the scrub that was begun last; null if there was none. */
    public @Nullable ScrubRecord scrub() throws IOException {
        return scrub(SystemRecords.SCRUB);
    }

    /** Returns the scrub that was completed last; null if there was none. */
    public @Nullable ScrubRecord lastScrub() throws IOException {
        return scrub(SystemRecords.LAST_SCRUB);
    }

    private @Nullable ScrubRecord scrub(byte[] key) throws IOException {
        byte[] value = overlay.get(Family.SYSTEM, key);
        return value == null ? null : ScrubRecord.decode(value);
    }

    /** Records how far a scrub is, as a change like any other; if it is complete, as the last one, too. */
    public void noteScrub(ScrubRecord record) {
        overlay.put(Family.SYSTEM, SystemRecords.SCRUB, record.encode());
        if (record.isComplete()) {
            overlay.put(Family.SYSTEM, SystemRecords.LAST_SCRUB, record.encode());
        }
    }

    /** Returns what a volume that receives snapshots of another one has of them; null for any other volume. */
    public @Nullable ReplicaRecord replica() throws IOException {
        byte[] value = overlay.get(Family.SYSTEM, SystemRecords.REPLICA);
        return value == null ? null : ReplicaRecord.decode(value);
    }

    /** Sets what {@link #replica} returns, as a change like any other; null makes the volume an ordinary one. */
    public void setReplica(@Nullable ReplicaRecord record) {
        if (record == null) {
            overlay.remove(Family.SYSTEM, SystemRecords.REPLICA);
        } else {
            overlay.put(Family.SYSTEM, SystemRecords.REPLICA, record.encode());
        }
    }

    /**
     * Returns the approximate heap bytes of the pending generation; for a frozen one see {@link Generation#bytes()}.
     */
    public long pendingBytes() {
        return overlay.pending().bytes();
    }

    /**
     * Returns approximately the maximum number of bytes that the database will still write to its device for the
     * changes made up to now.
     */
    public long unwrittenBytes() throws IOException {
        Overlay.Layers layers = overlay.layers();
        Generation frozen = layers.frozen();
        long changes = layers.pending().bytes() + (frozen == null ? 0 : frozen.bytes());
        // Changes are written to the log first, and then to a table; bytes that are already in the log, to a table.
        return 2 * changes + database.logBytes();
    }

    /**
     * Ends the pending generation and starts an empty one. No change may run at the same time.
     *
     * @throws IllegalStateException if the previous frozen generation is not committed: see {@link #uncommitted()}
     */
    public Generation freeze() {
        Totals now = totals();
        if (!now.equals(frozenTotals)) {
            overlay.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(now));
        }
        quotas.freeze(overlay);
        Generation frozen = overlay.freeze();
        frozenTotals = now;
        return frozen;
    }

    /**
     * Returns the frozen generation that is not committed, if there is one: its commit is running, or it failed and
     * must be tried again.
     */
    @Nullable
    Generation uncommitted() {
        return overlay.layers().frozen();
    }

    /** Returns the changes that are not committed; for closing the store while it has changes. */
    public Uncommitted uncommittedChanges() {
        Overlay.Layers layers = overlay.layers();
        Generation frozen = layers.frozen();
        return Uncommitted.of(frozen == null ? List.of(layers.pending()) : List.of(frozen, layers.pending()));
    }

    /**
     * Writes the frozen generation in one batch and returns when it is durable. If that fails, the generation stays
     * visible, and may be committed again if all data that it refers to is durable.
     */
    public void commit(Generation generation) throws IOException {
        commit(generation, ContainerChanges.NONE);
    }

    /**
     * Writes the frozen generation as {@link #commit(Generation)} does. The same batch changes the container table: it
     * makes the given changes, and sets the live bytes of the containers whose counts the generation changed. A commit
     * that failed may be tried again with the same or with further changes: they must contain each container that the
     * failed commit stored or removed.
     *
     * <p>The batch also deletes the count record of a removed container, if none of its copies exists any more.
     *
     * @return whether anything was to be written
     * @throws IllegalStateException if a removed container has an existing copy that is not known to be damaged;
     *     nothing is written then, and the generation may be committed with other changes
     */
    public boolean commit(Generation generation, ContainerChanges changes) throws IOException {
        ContainerUpdate update = new ContainerUpdate(database, generation.counts(), changes, unreadEntries);
        boolean hasChanges = overlay.commit(generation, update);
        unreadEntries = update.unread();
        showSnapshots(generation.number());
        ContainerSummary summary = update.summary();
        if (summary != null) {
            containers.committed(summary);
        }
        return hasChanges;
    }

    private void showSnapshots(long generation) {
        for (Unseen unseen : uncommittedSnapshots) {
            if (unseen.generation <= generation) {
                snapshots.show(unseen.record);
                uncommittedSnapshots.remove(unseen);
            }
        }
    }

    /** Returns the database with what is pending; for checks. */
    Overlay overlay() {
        return overlay;
    }

    /** Closes the database. Changes that are not committed are lost. Idempotent. */
    @Override
    public void close() throws IOException {
        database.close();
    }

    /** @param skipped numbers that are left out after those that were reserved */
    private IdAllocator allocator(byte[] key, int block, boolean isShipped, int skipped) throws IOException {
        long reserved = SystemRecords.decodeNumber(StoredRecords.system(database, key));
        return new IdAllocator(database, key, block, isShipped, reserved + skipped);
    }
}
