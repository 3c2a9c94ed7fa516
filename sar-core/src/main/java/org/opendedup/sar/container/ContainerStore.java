package org.opendedup.sar.container;

import com.google.common.collect.Sets;
import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ExecutorService;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;

/**
 * The containers of a volume: stores appended chunks under new ids, makes them durable, and reads them back one frame
 * at a time.
 *
 * <p>A chunk can be read as soon as it has an id. It is durable once {@link #force} returns. When the disk is full, the
 * chunks already appended stay in memory, {@link #force} retries writing them, and further appends are refused. When a
 * write or a force fails, no loss is silent: writers with chunks in that container get the failure, {@link #force}
 * throws it on every call, and {@link #isLost} reports which chunks are affected. These chunks stay in memory and in
 * the file, and can be read, until {@link #revive} rewrites them or {@link #abandonLost} gives them up. Chunks that an
 * earlier force covered stay readable in any case.
 *
 * <p>Safe for use by many threads. {@link #force} and {@link #close} wait for the compression workers, so they must not
 * be called from one of them.
 */
public final class ContainerStore implements Closeable {
    private final Directory directory;
    private final ContainerOptions options;
    private final ContainerIds ids;
    private final LongSupplier salts;
    private final ContainerRecovery recovery;
    private final ContainerClaims claims;
    private final ExecutorService workers;
    private final Compressor compressor;
    private final FrameDecoder decoder;
    private final InFlightBudget budget;
    private final FrameEncoder encoder;
    private final WriteLanes lanes;
    private final SealNotifier notifier;
    private final SealedContainers sealed;
    private final ContainerReader reads;
    private final UnsealedContainers open;
    /** Sealed containers that were found to exist: {@link #exists} is asked for each duplicate chunk. */
    private final ContainerIdSet present = new ContainerIdSet();
    /** Changes of the table by recovery, until they are committed. */
    private volatile ContainerChanges recovered;

    private final Packs packs;
    private final RewrittenContainers rewritten = new RewrittenContainers();

    private volatile boolean closed;

    /** As {@link #open}, with salts from the caller: the same chunks then produce the same file. */
    ContainerStore(
            Directory directory,
            ContainerOptions options,
            ContainerIds ids,
            LongSupplier salts,
            ContainerClaims claims,
            FrameTableSource tables,
            SealListener listener,
            ExecutorService workers,
            long frameTableCacheBytes)
            throws IOException {
        this.directory = directory;
        this.options = options;
        this.ids = ids;
        this.salts = salts;
        this.workers = workers;
        recovery = new ContainerRecovery(directory, claims, ids, options.cipher());
        recovery.recover();
        recovered = recovery.changes();
        this.claims = claims;
        packs = new Packs(directory, ids);
        compressor = new Compressor(options.compression());
        decoder = new FrameDecoder(compressor, options.cipher());
        budget = new InFlightBudget(options.maxBytesInFlight());
        encoder = new FrameEncoder(options.compression().frameBytes(), compressor, workers, budget);
        sealed = new SealedContainers(directory, tables, this::entry, frameTableCacheBytes, options.cipher());
        notifier = new SealNotifier(
                listener, container -> sealed.located(container).table());
        open = new UnsealedContainers(directory, packs, sealed, notifier);
        reads = new ContainerReader(decoder, open, sealed);
        lanes = new WriteLanes(options.maxOpenContainers(), encoder.frameBytes(), new LaneContainers());
    }

    /**
     * Opens the containers of a directory. First seals those that a crash left open: copies every frame whose checksum
     * holds to a new pack. The caller must commit {@link #force}'s result for that to last.
     *
     * @param claims what the volume's metadata say about its containers
     * @param tables where frame tables are kept besides the containers
     * @param listener notified of each container sealed after this call; those that this call seals are in
     *     {@link #recovered}
     * @param workers compress, write and decode frames; must be able to run while other threads wait for this store
     * @param frameTableCacheBytes heap for the frame table cache, in bytes
     */
    public static ContainerStore open(
            Directory directory,
            ContainerOptions options,
            ContainerIds ids,
            ContainerClaims claims,
            FrameTableSource tables,
            SealListener listener,
            ExecutorService workers,
            long frameTableCacheBytes)
            throws IOException {
        SecureRandom salts = new SecureRandom();
        return new ContainerStore(
                directory, options, ids, salts::nextLong, claims, tables, listener, workers, frameTableCacheBytes);
    }

    /**
     * Returns the containers that {@link #open} found unsealed and sealed. An index that knew them must read them
     * again.
     */
    public List<Long> recovered() {
        return List.copyOf(recovery.changes().stored().keySet());
    }

    /** Returns whether the container table must be changed because of what {@link #open} found. */
    public boolean hasRecovered() {
        return !recovered.isEmpty();
    }

    /** Returns whether {@link #forEachLost} has any slots to visit. */
    public boolean hasLost() {
        return recovery.hasLost();
    }

    /**
     * Visits the slots that the volume refers to and that {@link #open} did not find in what a crash left, container by
     * container.
     */
    public void forEachLost(LostSlots visitor) throws IOException {
        recovery.forEachLost(visitor);
    }

    /** Returns the containers that {@link #open} left open, because it found nothing of them. */
    public Set<Long> leftOpen() {
        return recovery.leftOpen();
    }

    /** Visits the places that {@link #open} could not read whole, of containers that it sealed nevertheless. */
    public void forEachHalfRead(ContainerClaims.Visitor visitor) throws IOException {
        recovery.forEachHalfRead(visitor);
    }

    /**
     * Returns a bound on the container ids that were ever used in this directory: the highest number of a pack; 0 if
     * there is none.
     *
     * @param from only packs from this number on are looked at
     */
    public long highestPack(long from) throws IOException {
        return packs.highest(from);
    }

    /**
     * Checks the header of a pack and returns the length of its file in bytes. For the checker.
     *
     * @throws java.nio.file.NoSuchFileException if the pack is missing
     */
    public long packBytes(long pack) throws IOException {
        return packs.checkedLength(pack);
    }

    /** Visits the slots that the ends of packs lack; see {@link CutPacks}. */
    public void forEachCutOff(LostSlots visitor) throws IOException {
        new CutPacks(directory, claims, sealed).forEach(visitor);
    }

    /** Returns the missing packs, by number, with their containers; see {@link Packs#missing}. */
    public SortedMap<Long, Long> missingPacks() throws IOException {
        SortedMap<Long, Long> missing = packs.missing(claims);
        if (!missing.isEmpty()) {
            // Containers that were there may be gone.
            present.clear();
        }
        return missing;
    }

    /** Returns whether there is a pack of this number. */
    public boolean hasPack(long pack) throws IOException {
        return packs.exists(pack);
    }

    /**
     * Returns whether a container with this id exists, sealed or being written: it is in the container table, and its
     * pack is there. Does not check its contents.
     */
    public boolean exists(long container) throws IOException {
        if (open.contains(container) || present.contains(container)) {
            return true;
        }
        StoredContainer stored = entry(container);
        boolean exists = stored != null && packs.exists(stored.pack());
        if (exists) {
            present.add(container);
        }
        return exists;
    }

    /** Returns whether a container is in the container table and its pack is not there now. */
    public boolean isMissing(long container) throws IOException {
        StoredContainer stored = open.contains(container) ? null : entry(container);
        return stored != null && !packs.exists(stored.pack());
    }

    /** Returns whether a container is in the container table, whether or not its pack is there. */
    public boolean hasEntry(long container) throws IOException {
        return open.contains(container) || entry(container) != null;
    }

    /** Returns a container's entry in the container table, also if it is not committed yet. */
    public @Nullable StoredContainer entry(long container) throws IOException {
        ContainerChanges changes = recovered;
        StoredContainer sealed = changes.stored().get(container);
        if (sealed != null) {
            return sealed;
        }
        return changes.removed().contains(container) ? null : claims.stored(container);
    }

    /**
     * Leases an open container to a stream: the one of its last lease if that is free. If all containers are leased,
     * shares another stream's container instead of waiting.
     *
     * @param stream the stream's number, for example an inode number; any value except {@link Long#MIN_VALUE}
     */
    public ContainerWriter writer(long stream) {
        return new ContainerWriter(lanes, lanes.lease(stream), stream, budget, open);
    }

    /** Creates containers for the lanes. */
    private final class LaneContainers implements WriteLane.Containers {
        @Override
        public OpenContainer create(@Nullable Pack pack, CompressionTrial trial) throws IOException {
            if (closed) {
                throw new IOException("the container store of " + directory + " is closed");
            }
            long id = ids.next();
            ContainerIdentity identity = new ContainerIdentity(id, salts.getAsLong(), ContainerFormat.FIRST_GENERATION);
            OpenContainer made = new OpenContainer(
                    new ContainerWriting(options.cipher(), identity),
                    directory,
                    encoder,
                    packs.forContainer(id, pack),
                    trial);
            open.add(made);
            return made;
        }

        @Override
        public boolean isFull(OpenContainer container) {
            return container.frames().isFull(options.containerBytes(), options.maxChunksPerContainer());
        }

        @Override
        public boolean takesMore(Pack pack) {
            return packs.takesMore(pack);
        }
    }

    /**
     * Reads one frame, from memory if it is not on the disk yet.
     *
     * @param verifyFingerprints whether to check every chunk's SHA-256 too; the frame's CRC-32C is always checked
     * @throws CorruptionException if the frame is not what was written; names container, slots, file and offset
     */
    public Frame frame(long container, int frame, boolean verifyFingerprints) throws IOException {
        return reads.frame(container, frame, verifyFingerprints);
    }

    /** Returns a decoder for one thread that reads frames of several containers; see {@link #readFrames}. */
    public Decoding decoding() {
        return new Decoding(workers);
    }

    /** As above; {@code memory} counts the bytes that are not decoded yet. */
    public Decoding decoding(ByteGauge memory) {
        return new Decoding(workers, memory);
    }

    /**
     * As {@link #readFrames(long, int[], int, int, FrameConsumer, Decoding)}; the calling thread decodes, in ascending
     * order.
     */
    public void readFrames(long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer)
            throws IOException {
        try (Decoding here = new Decoding(Runnable::run)) {
            readFrames(container, frames, count, maxGapBytes, consumer, here);
        }
    }

    /**
     * Reads frames of one container. Frames that lie near each other in the file are read by one disk request. All disk
     * reads are done when this returns; {@code consumer} gets the last frames, from other threads, by the time
     * {@code decoding} is closed.
     *
     * @param frames numbers of the wanted frames, ascending; only the first {@code count} entries are used
     * @param maxGapBytes longest gap of unwanted bytes, between two frames, that is read along instead of starting a
     *     new request
     * @param consumer gets each frame, or the reason why it could not be read, exactly once; must be safe for use by
     *     many threads
     * @throws IOException if the frame table cannot be read, so that no frame can be located
     */
    public void readFrames(
            long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        reads.readFrames(container, frames, count, maxGapBytes, consumer, decoding);
    }

    /**
     * Returns the number of the frame that holds a chunk.
     *
     * @throws CorruptionException if its container or slot does not exist
     */
    public int frameOf(long chunkId) throws IOException {
        return reads.frameOf(chunkId);
    }

    /**
     * As {@link #frameOf}, but returns -1 if the container's frame table is not in memory, or the slot does not exist.
     */
    public int knownFrameOf(long chunkId) throws IOException {
        return reads.knownFrameOf(chunkId);
    }

    /** Returns where a container lies on its device; {@link FileLayout#UNKNOWN} if that is not known. */
    public FileLayout layout(long container) {
        return reads.layout(container);
    }

    /**
     * Asks the kernel to begin to read bytes {@code from} to {@code to} (exclusive) of a pack into its cache. Does
     * nothing if the pack cannot be opened.
     */
    public void expect(long pack, long from, long to) {
        reads.expect(pack, from, to);
    }

    /**
     * Begins to read what a reader of a sealed container asks for first: all of it, if at least half of its bytes are
     * wanted, else its frame table, if that is not in memory. Does nothing if the container cannot be found, or unless
     * this {@link #answersAtOnce}.
     *
     * @param wantedBytes bytes of its chunks that are wanted
     */
    public void expect(long container, long wantedBytes) {
        if (answersAtOnce()) {
            reads.expect(container, wantedBytes);
        }
    }

    /** See {@link Directory#answersAtOnce}. */
    public boolean answersAtOnce() {
        return directory.answersAtOnce();
    }

    /** Returns whether a container accepts no more chunks. */
    public boolean isSealed(long container) {
        return !open.contains(container);
    }

    /**
     * Returns a container's frame table. For a container that is being written: the frames in its file at this moment.
     */
    public FrameTable frameTable(long container) throws IOException {
        return located(container).table();
    }

    /**
     * Returns the number of chunks of a container that is being written, with those of frames that are not in its file
     * yet; 0 if it is sealed: its frame table has all of them.
     */
    public int appendedChunks(long container) {
        OpenFrames unsealed = open.frames(container);
        return unsealed == null ? 0 : unsealed.slots();
    }

    /** As {@link #frameTable}, with the place in the pack. */
    public LocatedTable located(long container) throws IOException {
        return reads.located(container);
    }

    /**
     * Makes everything appended before the call durable, file names included. Ends the frames being filled; the
     * containers stay open. The caller commits the result with the metadata that refer to the chunks, and calls
     * {@link #committed} after that.
     *
     * @return the changes of the container table that are not committed
     * @throws NoSpaceException if the disk is full. Nothing is lost: a later call makes all of it durable once there is
     *     space
     * @throws IOException if any chunk appended since the store was opened is lost, now or earlier, and
     *     {@link #abandonLost} was not called since
     */
    public ContainerChanges force() throws IOException {
        Map<Long, StoredContainer> stored = new HashMap<>(recovered.stored());
        // Before the packs are forced: what is rewritten was forced by then, and so is its pack's name.
        ContainerChanges collected = rewritten.changes();
        stored.putAll(open.force());
        stored.putAll(collected.stored());
        return new ContainerChanges(stored, Sets.union(recovered.removed(), collected.removed()));
    }

    /**
     * Notes that the container table has these changes, durably. Sealed containers are read by the table from now on.
     */
    public void committed(ContainerChanges changes) {
        open.committed(changes.stored());
        recovered = ContainerChanges.NONE;
        rewritten.committed(changes).forEach((container, table) -> {
            sealed.cache(container, table);
            notifier.sealed(container);
        });
        changes.removed().forEach(present::remove);
    }

    /**
     * Writes the containers that failed in {@link #force} or an append to other packs, and ends them, so that no chunk
     * is lost. Does nothing where none failed.
     *
     * @throws CorruptionException if chunks are lost permanently
     * @throws IOException if the disk still fails; the caller may retry
     */
    public void revive() throws IOException {
        // One that fails after this stays with its lane, and is not ended.
        List<OpenContainer> failed = open.failed();
        lanes.all().forEach(WriteLane::dropFailed);
        open.revive(failed);
    }

    /**
     * Returns whether a chunk was given this id and could not be stored. Nothing must refer to such a chunk. For a
     * chunk that is still on its way to the disk, this is known only after the next {@link #force}, whether that throws
     * or not.
     */
    boolean isLost(long chunkId) {
        OpenFrames unsealed = open.frames(ChunkId.container(chunkId));
        return unsealed != null && unsealed.isLost(ChunkId.slot(chunkId));
    }

    /**
     * Declares that nothing the caller will commit refers to a chunk that {@link #isLost}: {@link #force} stops
     * reporting the losses it has already reported. The chunks stay lost. Losses after the last force that threw are
     * not covered; they are still reported.
     */
    void abandonLost() {
        open.abandonLost();
    }

    /**
     * Returns a writer of containers without some of their chunks; see {@link Compaction}. At most one may be open, and
     * the store must be open.
     *
     * @param level zstd level to compress anew with; 0: as {@link ContainerOptions#compression} says, and only what has
     *     to be
     */
    public Compaction compaction(int level) {
        PackSpace space = new PackSpace(directory, packs, claims, sealed);
        return new Compaction(sealed, packs, decoder, compressor, workers, rewritten, space, this::hasRecovered, level);
    }

    /** As {@link #directory}, where the container lasts: not from a copy that is nearer. */
    public SealedContainer lastingDirectory(long container) throws IOException {
        return sealed.lastingDirectory(container);
    }

    /** See {@link Directory#storeMissing}. */
    public void storeMissing() throws IOException {
        directory.storeMissing();
    }

    /** Returns a reader of whole containers that verifies everything in them; see {@link Verification}. */
    public Verification verification() {
        return new Verification(sealed, decoder, workers);
    }

    /**
     * Ends every container, as a volume does when it is closed: the next {@link #force} makes them complete. Writers
     * may continue; they get new containers.
     */
    public void endAll() {
        lanes.all().forEach(WriteLane::end);
    }

    /** Visits the ids of the sealed containers that are committed, as {@link ContainerClaims#forEachSealed}. */
    public void forEachContainer(ContainerClaims.SealedVisitor visitor) throws IOException {
        claims.forEachSealed(visitor);
    }

    /** Reads and checks the directory of a sealed container. */
    public SealedContainer directory(long container) throws IOException {
        return sealed.directory(container);
    }

    /** Returns the number of containers, sealed or not. */
    public long containers() {
        return claims.containers() + open.unrecorded();
    }

    /** Returns the total size of all containers, in bytes. */
    public long storedBytes() {
        return claims.storedBytes() + open.unrecordedBytes();
    }

    public ReadStatistics readStatistics() {
        return sealed.statistics();
    }

    /**
     * Closes the files and frees the memory of this store. Unsealed containers stay in their packs, unchanged; the next
     * {@link #open} seals them. Idempotent.
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        notifier.close();
        open.close();
        packs.close();
        sealed.close();
        compressor.close();
    }
}
