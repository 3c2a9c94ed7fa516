package org.opendedup.sar.volume.chunks;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.ingest.ChunkStoring;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.commit.FileChanges;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.engine.VolumeCreation;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume of chunks: the engine of {@link Volume} for a client that cuts and fingerprints its files itself, keeps
 * their recipes, and reports the references. It has no files and no names, and {@link Volume} does not open it.
 *
 * <p>A chunk has a <em>location</em>, which the client keeps and gives back: the id of its copy. It is at least 65 536,
 * never negative, and stays valid when containers are written anew. Fingerprints are those of
 * {@link VolumeConfig#hash}: containers, collector and SSD verify by them.
 *
 * <p>What was put and claimed is durable when {@link #sync} returns; everything else after at most ten seconds and the
 * duration of a commit. A crash loses calls after the last commit as a whole: a chunk never appears without its count.
 *
 * <p>The counts are only hints. {@link #collect} first asks the client's maps. It removes a chunk that no map names and
 * that has had no reference for a grace period. Safe for use by many threads.
 */
public final class ChunkVolume implements Closeable {
    /** The answer that a chunk is not stored. */
    public static final long NOT_FOUND = -1;

    /** Lowest location: slot 0 of container 1. */
    static final long FIRST_LOCATION = 1L << ChunkId.SLOT_BITS;

    private final ChunkEngine engine;
    private final VolumeConfig config;
    private final ReferenceCounts counts;
    private final ChunkStoring storing;
    private final Committer committer;
    private final SpaceCollector collector;
    private final EngineInUse inUse;
    private final ChunkReadAhead ahead;
    private final ChunkMaintenance maintenance;
    private final LongAdder readBytes = new LongAdder();

    /** @param opened as of {@link ChunkEngine#ChunkEngine} */
    private ChunkVolume(
            VolumeConfig config,
            VolumeStores stores,
            MetadataStore metadata,
            Verification verification,
            Duration grace,
            LongSupplier nanoClock,
            @Nullable ClientReferences client,
            Deque<Closing.Step> opened)
            throws IOException {
        MemoryPlan plan = MemoryPlan.ofChunks(config);
        this.config = config;
        engine = new ChunkEngine(config, stores, metadata, verification, plan, opened);
        counts = metadata.counts();
        HotChunks hot = engine.hot();
        int maxCopies = (int) Math.min(Integer.MAX_VALUE, plan.nodes() / 2 / RecentlyUnreferenced.COPY_BYTES);
        RecentlyUnreferenced recent = new RecentlyUnreferenced(grace.toNanos(), nanoClock, maxCopies, client != null);
        counts.keep(recent::keeps);
        counts.listen(chunk -> {
            recent.note(chunk);
            if (hot.isConfigured()) {
                hot.demotion().unreferenced(chunk);
            }
        });
        storing = new ChunkStoring(
                engine.index(),
                engine.containers(),
                counts,
                engine.uses(),
                engine.changes(),
                engine.damaged()::contains,
                recent::note,
                ChunkEngine.MAX_OPEN_CONTAINERS,
                hot.isConfigured() ? hot.promotion() : null);
        ahead = new ChunkReadAhead(engine);
        committer = engine.committer(FileChanges.NONE, new WriteStop(false));
        MetadataBackups backups = engine.backups(committer);
        collector = engine.collector(engine.index(), committer, backups, () -> CompletableFuture.completedFuture(null));
        if (client != null) {
            ClientRecount.Copies copies = new ClientRecount.Copies(
                    engine.damaged()::contains,
                    fingerprint -> storing.lookUp(config.hash().stored(fingerprint)),
                    () -> engine.rebuilder().condition().updating());
            collector.relyOn(new ClientRecount(recent, client, metadata, committer, copies, plan.checkTuples()));
        }
        inUse = new EngineInUse(engine, committer, collector, backups);
        maintenance = new ChunkMaintenance(config, inUse);
    }

    /** Creates a volume of chunks at its locations, which must be empty or absent. */
    public static void create(VolumeConfig config) throws IOException {
        VolumeCreation.createForChunks(config);
    }

    /** Creates a volume of chunks in an empty directory and an empty database. */
    public static void create(
            VolumeConfig config, UUID volume, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        VolumeCreation.createForChunks(config, volume, data, database, clock);
    }

    /**
     * Opens a volume of chunks at its locations.
     *
     * @param grace time for which a chunk without references is kept
     * @param client has the references: each collection asks it first
     * @throws IOException if it is not there, is a volume of files, is in use, or cannot be read; the message says
     *     which
     */
    public static ChunkVolume open(VolumeConfig config, Duration grace, ClientReferences client) throws IOException {
        return ChunkEngine.openAt(
                config, stores -> open(config, stores, Verification.CHECKSUMS, grace, System::nanoTime, client));
    }

    /**
     * Opens a volume of chunks in stores that the caller has opened.
     *
     * @param nanoClock the time by which the grace period passes, in nanoseconds
     * @param client as above; null: the counts are right at any time, and decide what is garbage
     */
    public static ChunkVolume open(
            VolumeConfig config,
            VolumeStores stores,
            Verification verification,
            Duration grace,
            LongSupplier nanoClock,
            @Nullable ClientReferences client)
            throws IOException {
        MetadataStore metadata = MetadataStore.open(
                KeyValueStores.sealed(stores.metadata(), config.keys()),
                MemoryPlan.ofChunks(config).metadataCache());
        metadata.header().require(MetadataHeader.Contents.CHUNKS);
        ChunkVolume volume = ChunkEngine.construct(
                opened -> new ChunkVolume(config, stores, metadata, verification, grace, nanoClock, client, opened));
        try {
            volume.requireHash();
            volume.committer.commitRecovery();
            volume.engine.updateIndex();
            volume.committer.start();
            volume.engine.hot().demoteUnreferenced();
            return volume;
        } catch (IOException | RuntimeException e) {
            Closing.after(e, volume::close);
            throw e;
        }
    }

    /** Requires that the fingerprints were always made in the same way. Asks a container: an index may be lost. */
    private void requireHash() throws IOException {
        engine.metadata().containers().forEachFrom(0, entry -> {
            ContentHash found = hashOf(entry.container());
            if (found != null && found != config.hash()) {
                throw new IOException("the fingerprints of the volume's chunks are " + found
                        + ", and the client's now " + config.hash() + ": none of its chunks would be found. Nothing"
                        + " was changed");
            }
            return found == null;
        });
    }

    /** Returns how the fingerprints in a container were made; null if it has none or cannot be read. */
    private @Nullable ContentHash hashOf(long container) {
        try {
            SealedContainer directory = engine.containers().directory(container);
            for (int slot = 0; slot < directory.slots(); slot++) {
                if (directory.length(slot) > 0) {
                    return ContentHash.of(directory.fingerprints(), slot * Fingerprints.BYTES);
                }
            }
        } catch (IOException e) {
            return null; // It is damaged or missing. The next one tells as well.
        }
        return null;
    }

    /**
     * The answer to {@link #put}.
     *
     * @param location where the chunk is
     * @param isNew whether its content was not stored before
     */
    public record Put(long location, boolean isNew) {}

    /**
     * Stores a chunk unless its content is stored, and adds references to it.
     *
     * @param ofClient its fingerprint, as the client has it
     * @param data array that begins with the chunk; not used after the call
     * @param length bytes of the chunk, 1 to 16 MiB
     * @param references references to add, 0 or more
     * @param stream names the file being written: chunks of one stream are stored together, in the order of the calls,
     *     and a reader of all of them, the known ones as well, is read ahead in that order
     * @throws IOException if the fingerprint is not the chunk's, there is no space, or a write failed earlier
     */
    public Put put(byte[] ofClient, byte[] data, int length, int references, long stream) throws IOException {
        byte[] fingerprint = config.hash().stored(ofClient);
        if (references < 0) {
            throw new IllegalArgumentException("a chunk is put with 0 or more references, not " + references);
        }
        committer.checkWritable();
        ChunkStoring.Stored stored = storing.put(
                fingerprint,
                data,
                length,
                references,
                stream,
                bytes -> collector.admitData(bytes, () -> engine.plan().framesInFlight()));
        ahead.wrote(stream, stored.chunkId(), length, fingerprint);
        return new Put(stored.chunkId(), stored.isNew());
    }

    /** Returns the location of a content; {@link #NOT_FOUND} if it is not stored, or only damaged. */
    public long find(byte[] ofClient) throws IOException {
        long found = storing.find(config.hash().stored(ofClient));
        return found == ChunkId.NONE ? NOT_FOUND : found;
    }

    /** Returns the number of references to the chunk at a location; 0 if there is none. */
    public int references(long location) throws IOException {
        return isLocation(location) ? counts.count(location) : 0;
    }

    /**
     * Adds to the count of a chunk. A count does not fall below 0.
     *
     * @param location where the chunk was put; any other number if that is not known
     * @param delta references to add; negative: to take away
     * @return the location of the copy that was counted; {@link #NOT_FOUND} if the content is not stored
     */
    public long claim(byte[] ofClient, long location, long delta) throws IOException {
        byte[] fingerprint = config.hash().stored(ofClient);
        committer.checkWritable();
        try (GracePeriod.Use use = engine.uses().begin()) {
            long indexed = storing.lookUp(fingerprint);
            // The index may lead to a younger copy, or nowhere: the one at the location counts, if it is that content.
            long copy = indexed == location || !holds(location, fingerprint) ? indexed : location;
            return exists(copy) && storing.claim(copy, delta) >= 0 ? copy : NOT_FOUND;
        }
    }

    /**
     * Returns the bytes of a chunk, verified by its fingerprint.
     *
     * @param location where the chunk was put; any other number if that is not known. If it is not there, or damaged,
     *     another copy of the content is read
     * @return null if it is not stored
     * @throws IOException if its copies are damaged or cannot be read
     */
    public byte @Nullable [] get(byte[] ofClient, long location) throws IOException {
        byte[] fingerprint = config.hash().stored(ofClient);
        try (GracePeriod.Use use = engine.uses().begin()) {
            byte[] bytes = null;
            IOException failure = null;
            try {
                bytes = getAt(fingerprint, location);
            } catch (IOException e) {
                failure = e;
            }
            if (bytes == null) {
                long indexed = storing.lookUp(fingerprint);
                bytes = indexed == location ? null : readIndexed(fingerprint, indexed);
            }
            if (bytes == null && failure != null) {
                throw failure;
            }
            readBytes.add(bytes == null ? 0 : bytes.length);
            return bytes;
        }
    }

    /**
     * Reads what is at a location; null if that is not the content with this fingerprint. Asks the index only if the
     * SSD has a copy of the chunk: a location that is wrong must not spoil that.
     */
    private byte @Nullable [] getAt(byte[] fingerprint, long location) throws IOException {
        int length = isLocation(location) ? counts.length(location) : 0;
        if (length == 0) {
            return null;
        }
        byte[] fetched = ahead.read(location, length, fingerprint);
        if (fetched != null) {
            return fetched;
        }
        boolean isOnSsd = engine.hot().isConfigured() && engine.hot().contains(location);
        return isOnSsd && storing.lookUp(fingerprint) == location
                ? readIndexed(fingerprint, location)
                : read(fingerprint, location);
    }

    private byte @Nullable [] readIndexed(byte[] fingerprint, long copy) throws IOException {
        int length = copy == ChunkId.NONE ? 0 : counts.length(copy);
        if (length == 0) {
            return null;
        }
        byte[] bytes = engine.restore().chunks().read(copy, fingerprint, length);
        verify(bytes, fingerprint, copy);
        return bytes;
    }

    /** Reads what is at a location, at home; null if that is not the content with this fingerprint. */
    private byte @Nullable [] read(byte[] fingerprint, long location) throws IOException {
        if (!exists(location)) {
            return null;
        }
        byte[] bytes = engine.restore().chunks().readIf(location, fingerprint);
        if (bytes != null) {
            verify(bytes, fingerprint, location);
        }
        return bytes;
    }

    /** Reports damage if a chunk whose fingerprint begins as this one does has another. */
    private void verify(byte[] bytes, byte[] fingerprint, long copy) throws IOException {
        if (!new ContentHasher().matches(bytes, 0, bytes.length, fingerprint, 0)) {
            CorruptionException e = new CorruptionException(
                    "chunk " + ChunkId.toString(copy),
                    -1,
                    "fingerprint " + Fingerprints.toHex(fingerprint, 0),
                    "another");
            engine.damaged().damagedChunk(0, copy, engine.containers().frameOf(copy), e);
            throw e;
        }
    }

    /** Returns whether a location holds a content. What cannot be read is believed: its references count there. */
    private boolean holds(long location, byte[] fingerprint) {
        try {
            return read(fingerprint, location) != null;
        } catch (IOException e) {
            return true;
        }
    }

    private boolean exists(long location) throws IOException {
        return isLocation(location) && counts.length(location) > 0;
    }

    private static boolean isLocation(long location) {
        return location >= FIRST_LOCATION;
    }

    /**
     * Sets whether sequential readers are read ahead, and whether what streams put is remembered for that; both are
     * unless it is set otherwise.
     */
    public void setReadAhead(boolean isWanted) {
        ahead.set(isWanted);
    }

    /** Says that the chunk at a location will be read soon. Never waits for the disk. */
    public void expectRead(long location) throws IOException {
        if (exists(location)) {
            ahead.expect(location);
        }
    }

    /** Makes everything durable that was put and claimed before the call. Calls at the same time share one commit. */
    public void sync() throws IOException {
        storing.endRuns();
        committer.commit();
    }

    /** Returns a walk through all chunks. Ends the open containers first, so that it has all that were put by now. */
    public ChunkWalk walk() throws IOException {
        engine.containers().endAll();
        committer.commit();
        return new ChunkWalk(engine);
    }

    /**
     * Removes chunks that have had no reference for the grace period, and gives their space back. See
     * {@link SpaceCollector#collect}.
     */
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        return collector.collect(limits, progress);
    }

    /** Returns why the volume refuses changes, as text; null while it accepts them. */
    public @Nullable String stopped() {
        return committer.stopped();
    }

    /** Returns what keeps the volume in order, and says how it is. */
    public ChunkMaintenance maintenance() {
        return maintenance;
    }

    /** Returns the engine: for tests. */
    public ChunkEngine engine() {
        return engine;
    }

    /** Returns the SSD of the volume. */
    public HotChunks hot() {
        return engine.hot();
    }

    public ChunkVolumeStatistics statistics() {
        return ChunkVolumeStatistics.of(
                inUse,
                config.capacityBytes(),
                new ChunkVolumeStatistics.Traffic(
                        storing.storedBytes(),
                        storing.duplicateBytes(),
                        readBytes.sum(),
                        ahead.framesAhead(),
                        ahead.chunksAhead()));
    }

    /**
     * Commits and closes all parts. No other call may run. Continues after a failure, and throws it at the end: what
     * was not durable then is lost.
     */
    @Override
    public void close() throws IOException {
        maintenance.heal().stop();
        Closing closing = new Closing();
        closing.run(collector::close);
        closing.run(committer::close);
        closing.run(engine.rebuilder()::close);
        closing.run(committer::resume);
        closing.run(committer::retryIfShort);
        closing.run(storing::close);
        closing.run(ahead::endLogs);
        engine.commitLast(committer, closing);
        engine.close(closing);
        closing.finish();
    }
}
