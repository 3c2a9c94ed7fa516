package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * The metadata database with its pending changes. Changes gather in the pending generation, visible to every reader;
 * {@link #freeze} ends it and {@link #commit} writes it in one atomic, durable batch, while the next one gathers.
 *
 * <p>Reads may run at any time from any thread. Changes may run at once with each other and with a commit, but not with
 * {@code freeze}: the caller holds a lock shared for changes, exclusively for {@code freeze}.
 */
public final class MetadataStore implements Closeable {
    /** At 5000 new files a second, about one reservation, and so one sync, a second. */
    private static final int INODE_BLOCK = 4096;

    /** Containers of 4 MiB: 1 GiB written, one sync. */
    private static final int CONTAINER_BLOCK = 256;

    /** While formatting nothing is read twice. */
    private static final long FORMAT_CACHE_BYTES = 1 << 20;

    private final KeyValueStore database;
    private final MetadataHeader header;
    private final Overlay overlay;
    private final Namespace namespace;
    private final RecipeStore recipes;
    private final RecipeRanges ranges;
    private final ReferenceCounts counts;
    private final IdAllocator inodes;
    private final IdAllocator containers;
    private final EpochHistory epochs;
    /** Written under this. */
    private volatile Totals totals;
    /** What the last frozen generation holds; guarded by the caller's lock. */
    private Totals frozenTotals;

    private MetadataStore(KeyValueStore database, MetadataHeader header, long cacheBytes, NameHash nameHash)
            throws IOException {
        this.database = database;
        this.header = header;
        overlay = new Overlay(database);
        namespace = new Namespace(overlay, nameHash);
        // A 256 KiB page of 4 KiB chunks takes 1.4 KB decoded, their counts 0.3 KB.
        counts = new ReferenceCounts(overlay, cacheBytes / 4);
        recipes = new RecipeStore(overlay, counts, header.pageBytes(), cacheBytes - cacheBytes / 4);
        ranges = new RecipeRanges(recipes, counts, header.pageBytes());
        inodes = allocator(SystemRecords.NEXT_INODE, INODE_BLOCK);
        containers = allocator(SystemRecords.NEXT_CONTAINER, CONTAINER_BLOCK);
        epochs = EpochHistory.open(database, header.volume());
        frozenTotals = SystemRecords.decodeTotals(systemRecord(database, SystemRecords.TOTALS));
        totals = frozenTotals;
    }

    /**
     * Writes the header of a new volume's metadata into an empty database; the root directory is the caller's to make.
     * The result keeps little in memory: close it and {@link #open} it for use.
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
                    SystemRecords.encodeNameHash(random.nextLong(), random.nextLong()));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(Inode.ROOT + 1));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_CONTAINER, SystemRecords.encodeNumber(1));
            batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(Totals.NONE));
            EpochHistory.format(batch, random.nextLong());
            batch.commit();
        }
        return open(database, FORMAT_CACHE_BYTES);
    }

    /**
     * Opens a volume's metadata. Closing the result closes the database.
     *
     * @param cacheBytes bound of the caches of decoded records, in heap bytes
     * @throws org.opendedup.sar.common.UnsupportedFormatException if another program version made it
     * @throws CorruptionException if it is damaged, or no volume's metadata
     */
    public static MetadataStore open(KeyValueStore database, long cacheBytes) throws IOException {
        return open(database, cacheBytes, null);
    }

    /** @param nameHash null for the volume's own */
    static MetadataStore open(KeyValueStore database, long cacheBytes, @Nullable NameHash nameHash) throws IOException {
        MetadataHeader header = SystemRecords.decodeHeader(systemRecord(database, SystemRecords.HEADER));
        NameHash ownHash = SystemRecords.decodeNameHash(systemRecord(database, SystemRecords.NAME_HASH));
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

    public ReferenceCounts counts() {
        return counts;
    }

    /** The epochs that led to this metadata; {@link #beginEpoch} adds one. */
    public EpochHistory epochs() {
        return epochs;
    }

    /**
     * Begins a new epoch, durably, and gives out no container id below {@code freeContainer} in it.
     *
     * @param freeContainer above every container id that anything at hand knows
     */
    public void beginEpoch(long freeContainer) throws IOException {
        epochs.begin(new SecureRandom().nextLong(), containers.skipTo(freeContainer));
    }

    /** The first container id that was not given out. */
    public long firstFreeContainer() throws IOException {
        return containers.skipTo(0);
    }

    /** An inode number that was never used; 2 and up. Fails only where a new block of them must be reserved. */
    public long nextInode() throws IOException {
        return inodes.next();
    }

    /** A container id that was never used; 1 and up. Fails only where a new block of them must be reserved. */
    public long nextContainer() throws IOException {
        return containers.next();
    }

    public Totals totals() {
        return totals;
    }

    /** Adds to the running totals; a change like any other. */
    public synchronized void addToTotals(long logicalBytes, long files, long uniqueBytes, long chunks) {
        totals = totals.plus(logicalBytes, files, uniqueBytes, chunks);
    }

    /** Heap bytes of the pending generation, roughly; a frozen one has its own {@link Generation#bytes()}. */
    public long pendingBytes() {
        return overlay.pending().bytes();
    }

    /** Bytes that the database will still write on its device for the changes made so far, at most about. */
    public long unwrittenBytes() throws IOException {
        Overlay.Layers layers = overlay.layers();
        Generation frozen = layers.frozen();
        long changes = layers.pending().bytes() + (frozen == null ? 0 : frozen.bytes());
        // To its log first, and then to a table; what is in the log by now, to a table.
        return 2 * changes + database.logBytes();
    }

    /**
     * Ends the pending generation and starts an empty one. No change may run meanwhile.
     *
     * @throws IllegalStateException if the generation frozen before is not committed: see {@link #uncommitted()}
     */
    public Generation freeze() {
        Totals now = totals;
        if (!now.equals(frozenTotals)) {
            overlay.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(now));
        }
        Generation frozen = overlay.freeze();
        frozenTotals = now;
        return frozen;
    }

    /** The frozen generation that is not committed, if there is one: its commit runs, or failed and must be tried again. */
    public @Nullable Generation uncommitted() {
        return overlay.layers().frozen();
    }

    /**
     * Writes the frozen generation in one batch and returns when it is durable. If that fails, the generation stays
     * visible, and may be committed again if all that it refers to is durable.
     */
    public void commit(Generation generation) throws IOException {
        overlay.commit(generation);
    }

    /** Closes the database. What is not committed is lost. Idempotent. */
    @Override
    public void close() throws IOException {
        database.close();
    }

    private IdAllocator allocator(byte[] key, int block) throws IOException {
        return new IdAllocator(database, key, block, SystemRecords.decodeNumber(systemRecord(database, key)));
    }

    private static byte[] systemRecord(KeyValueStore database, byte[] key) throws IOException {
        byte[] value = database.get(Family.SYSTEM, key);
        if (value == null) {
            throw new CorruptionException(
                    "metadata database", -1, "the system record " + new String(key, US_ASCII), "none");
        }
        return value;
    }
}
