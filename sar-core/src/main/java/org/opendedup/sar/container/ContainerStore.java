package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The containers of a volume: takes chunks and gives them ids, makes them durable, reads them back frame by frame.
 *
 * <p>A chunk can be read from the moment it has its id. It is durable once {@link #force} returns. When the disk is full, what was
 * taken stays in memory and {@link #force} tries again; nothing more is taken meanwhile. When a write or a force fails, nothing
 * is lost silently: writers with chunks in that container get the failure, {@link #force} throws it every time until {@link
 * #abandonLost}, {@link #isLost} tells which chunks it concerns, and reading these fails. Chunks that an earlier force covered
 * stay readable.
 *
 * <p>Safe for use by many threads; {@link #force}, {@link #sealAll} and {@link #close} must not be called from the
 * compression workers, which they wait for.
 */
public final class ContainerStore implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerStore.class);

    private final Directory directory;
    private final ContainerOptions options;
    private final ContainerIds ids;
    private final LongSupplier salts;
    private final ContainerRecovery recovery;
    private final long highest;
    private final ContainerIdSet sealed = new ContainerIdSet();
    private final ExecutorService workers;
    private final Compressor compressor;
    private final InFlightBudget budget;
    private final FrameEncoder encoder;
    private final WriteLanes lanes;
    private final ContainerSealer sealer;
    private final ContainerReader reader;

    /** Every container that is not sealed: written to, waiting to be sealed, or failed. */
    private final Map<Long, OpenContainer> open = new ConcurrentHashMap<>();

    /** Full containers that the disk had no room to seal. */
    private final Set<OpenContainer> unsealed = ConcurrentHashMap.newKeySet();

    private final AtomicLong sealedContainers = new AtomicLong();
    private final AtomicLong sealedBytes = new AtomicLong();
    private volatile boolean closed;

    private ContainerStore(
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
        recovery = new ContainerRecovery(directory, claims);
        recovery.recover(directory.list());
        highest = countFiles();
        compressor = new Compressor(options.compression());
        budget = new InFlightBudget(options.maxBytesInFlight());
        encoder = new FrameEncoder(options.compression().frameBytes(), compressor, workers, budget);
        reader = new ContainerReader(directory, compressor, tables, claims, frameTableCacheBytes);
        sealer = new ContainerSealer(options.maxOpenContainers(), container -> seal(container, listener));
        lanes = new WriteLanes(options.maxOpenContainers(), encoder.frameBytes(), new LaneContainers());
    }

    /**
     * Opens the containers of a directory. First seals those that a crash left open, keeping every frame whose checksum
     * holds. What cannot be read whole, or is not the writing that {@code claims} means, is kept aside; one without a whole frame that
     * nothing refers to is deleted.
     *
     * @param claims what the volume knows of its containers
     * @param tables where frame tables are kept besides the containers
     * @param listener told of each container sealed from now on; those sealed by this call are in {@link #recovered}
     * @param workers compress, write and decode frames; must be able to run while other threads wait for this store
     * @param frameTableCacheBytes heap for frame tables, in bytes
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
        LongSupplier salts = new SecureRandom()::nextLong;
        return open(directory, options, ids, salts, claims, tables, listener, workers, frameTableCacheBytes);
    }

    /** As above, with salts of the caller's choice: the same chunks then make the same file. */
    static ContainerStore open(
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
        return new ContainerStore(
                directory, options, ids, salts, claims, tables, listener, workers, frameTableCacheBytes);
    }

    /** Returns the highest id that any file of the directory bears, of whatever kind; 0 if there is none. */
    private long countFiles() throws IOException {
        long last = 0;
        for (String name : directory.list()) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.SEALED_SUFFIX);
            if (container.isPresent()) {
                sealedContainers.incrementAndGet();
                sealedBytes.addAndGet(directory.length(name));
                sealed.add(container.getAsLong());
            }
            last = Math.max(last, ContainerFormat.idOf(name));
        }
        return last;
    }

    /** The containers that {@link #open} found unsealed and sealed: an index that knew them must read them again. */
    public List<Long> recovered() {
        return List.copyOf(recovery.recovered());
    }

    /** Whether {@link #forEachLost} has any. */
    public boolean hasLost() {
        return !recovery.lost().isEmpty();
    }

    /** Told of slots that the volume refers to and {@link #open} did not find in what a crash left, container by container. */
    public void forEachLost(LostSlots visitor) throws IOException {
        for (ContainerRecovery.Lost lost : recovery.lost()) {
            BitSet slots = lost.slots();
            for (int first = slots.nextSetBit(0); first >= 0; ) {
                int end = slots.nextClearBit(first);
                visitor.lost(lost.container(), first, end);
                first = slots.nextSetBit(end);
            }
        }
    }

    /** Takes a range of slots, {@code end} exclusive. */
    @FunctionalInterface
    public interface LostSlots {
        void lost(long container, int first, int end) throws IOException;
    }

    /** The highest container id that a file bore when the store was opened, also one that is kept aside; 0 if there was none. */
    public long highestAtOpening() {
        return highest;
    }

    /** Whether there is a container of this id: a file, or one being written. Says nothing of what is in it. */
    public boolean exists(long container) {
        return open.containsKey(container) || sealed.contains(container);
    }

    /** Which writing of a container there is. */
    public Writing writing(long container) throws IOException {
        OpenContainer unsealed = open.get(container);
        return unsealed == null ? frameTable(container).writing() : unsealed.writing();
    }

    /**
     * Leases an open container to a stream: its own of last time if that is free, and another stream's, shared, rather than
     * wait when all are leased.
     *
     * @param stream any number but {@link Long#MIN_VALUE}; an inode number, say
     */
    public ContainerWriter writer(long stream) {
        return new ContainerWriter(lanes, lanes.lease(stream), stream, budget);
    }

    /** What the lanes ask for. */
    private final class LaneContainers implements WriteLane.Containers {
        @Override
        public OpenContainer create() throws IOException {
            if (closed) {
                throw new IOException("the container store of " + directory + " is closed");
            }
            OpenContainer created = OpenContainer.create(ids.next(), salts.getAsLong(), directory, encoder);
            open.put(created.container(), created);
            return created;
        }

        @Override
        public void seal(OpenContainer full) {
            sealer.submit(full);
        }

        @Override
        public boolean isFull(OpenContainer container) {
            return container.isFull(options.containerBytes(), options.maxChunksPerContainer());
        }
    }

    /** Runs in the sealing thread. Does nothing if the container is sealed: it may have been submitted twice. */
    private void seal(OpenContainer container, SealListener listener) throws IOException {
        long id = container.container();
        if (!open.containsKey(id)) {
            return;
        }
        OpenContainer.SealedFile file;
        try {
            file = container.seal();
        } catch (IOException e) {
            if (container.isFailed()) {
                log.error("{} could not be sealed: {}", container, e.getMessage(), e);
            } else {
                log.debug("{} is sealed when there is space: {}", container, e.getMessage());
                unsealed.add(container);
            }
            throw e;
        }
        try {
            reader.cache(id, file.table());
        } finally {
            sealedContainers.incrementAndGet();
            sealedBytes.addAndGet(file.fileBytes());
            sealed.add(id);
            open.remove(id);
        }
        try {
            listener.sealed(id, file.table().encodeWithSalt());
        } catch (IOException | RuntimeException e) {
            log.error("{} is sealed, but not yet in the index: {}", container, e.getMessage(), e);
        }
    }

    /**
     * Reads one frame, from memory if it is not on the disk yet.
     *
     * @param verifyFingerprints whether every chunk's SHA-256 is checked too; the frame's CRC-32C always is
     * @throws CorruptionException if the frame is not what was written; names container, slots, file and offset
     */
    public Frame frame(long container, int frame, boolean verifyFingerprints) throws IOException {
        OpenContainer unsealed = open.get(container);
        if (unsealed != null) {
            Frame inMemory = unsealed.frameInMemory(frame);
            if (inMemory != null) {
                return inMemory;
            }
        }
        FrameTable table = frameTable(container);
        checkFrame(container, table, frame);
        return reader.frame(container, table, frame, verifyFingerprints);
    }

    private static void checkFrame(long container, FrameTable table, int frame) {
        if (frame < 0 || frame >= table.frames()) {
            throw new IllegalArgumentException(
                    "container " + container + " has frames 0 to " + (table.frames() - 1) + ", not " + frame);
        }
    }

    /** For a thread that is going to read frames of several containers: see {@link #readFrames}. */
    public Decoding decoding() {
        return new Decoding(workers);
    }

    /** As above; {@code memory} is told of what was read and is not decoded yet. */
    public Decoding decoding(ByteGauge memory) {
        return new Decoding(workers, memory);
    }

    /** As {@link #readFrames(long, int[], int, int, FrameConsumer, Decoding)}; this thread decodes, in rising order. */
    public void readFrames(long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer)
            throws IOException {
        try (Decoding here = new Decoding(Runnable::run)) {
            readFrames(container, frames, count, maxGapBytes, consumer, here);
        }
    }

    /**
     * Reads frames of one container; those that lie near each other in the file by one disk request. When it returns, the disk is
     * done; the consumer gets the last frames, from other threads, by the time {@code decoding} is closed.
     *
     * @param frames numbers of the wanted frames, rising; the first {@code count} count
     * @param maxGapBytes unwanted bytes between two frames that are read along rather than made a request of their own
     * @param consumer gets each frame, or why it could not be had, exactly once; must be safe for use by many threads
     * @throws IOException if nothing can be said of any frame, the frame table being unreadable
     */
    public void readFrames(
            long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        OpenContainer unsealed = open.get(container);
        if (unsealed == null) {
            readStoredFrames(container, frames, count, maxGapBytes, consumer, decoding);
            return;
        }
        int[] stored = new int[count];
        int storedCount = 0;
        for (int i = 0; i < count; i++) {
            Frame inMemory;
            try {
                inMemory = unsealed.frameInMemory(frames[i]);
            } catch (IOException e) {
                consumer.damaged(frames[i], e);
                continue;
            }
            if (inMemory == null) {
                stored[storedCount++] = frames[i];
            } else {
                consumer.frame(frames[i], inMemory);
            }
        }
        readStoredFrames(container, stored, storedCount, maxGapBytes, consumer, decoding);
    }

    private void readStoredFrames(
            long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        if (count == 0) {
            return;
        }
        FrameTable table = frameTable(container);
        for (int i = 0; i < count; i++) {
            checkFrame(container, table, frames[i]);
        }
        reader.frames(container, table, frames, count, maxGapBytes, consumer, decoding);
    }

    /**
     * The number of the frame that holds a chunk.
     *
     * @throws CorruptionException if its container or slot does not exist
     */
    public int frameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenContainer unsealed = open.get(container);
        int frame = unsealed == null ? frameTable(container).frameOf(slot) : unsealed.frameOf(slot);
        if (frame < 0) {
            throw new CorruptionException("container " + container, -1, "slot " + slot, "no such slot");
        }
        return frame;
    }

    /** As {@link #frameOf}, but -1 if its container's frame table is not in memory, or the slot does not exist. */
    public int knownFrameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenContainer unsealed = open.get(container);
        if (unsealed != null) {
            return unsealed.frameOf(slot);
        }
        FrameTable table = reader.cachedFrameTable(container);
        return table == null ? -1 : table.frameOf(slot);
    }

    /** Where a container lies on its device; not known of one that is being written, or can't be opened. */
    public FileLayout layout(long container) {
        try {
            return isSealed(container) ? reader.layout(container) : FileLayout.UNKNOWN;
        } catch (IOException e) {
            log.debug("container {}: whoever reads it will see why it can't be opened", container, e);
            return FileLayout.UNKNOWN;
        }
    }

    /** Whether nothing is appended to a container any more. */
    public boolean isSealed(long container) {
        return !open.containsKey(container);
    }

    /** A container's frame table; of one that is being written, the frames that are in its file by now. */
    public FrameTable frameTable(long container) throws IOException {
        OpenContainer unsealed = open.get(container);
        return unsealed == null ? reader.frameTable(container) : unsealed.table();
    }

    /**
     * Makes durable everything appended before the call, file names included. Ends the frames being filled; the containers
     * stay open.
     *
     * @throws NoSpaceException if the disk is full. Nothing is lost: all is made durable by a later call, when there is space
     * @throws IOException if any chunk appended since the store was opened is lost, now or earlier, and {@link #abandonLost}
     *     was not called since
     */
    public void force() throws IOException {
        Collection<OpenContainer> forced = new ArrayList<>(open.values());
        forced.forEach(OpenContainer::flush);
        forced.forEach(OpenContainer::force);
        try {
            directory.sync();
        } catch (IOException e) {
            forced.forEach(container -> container.nameIsInDoubt(e));
            throw e;
        }
        forced.forEach(OpenContainer::nameIsDurable);
        throwIfLost(forced);
        for (OpenContainer container : forced) {
            container.throwIfShort();
        }
        sealLate();
    }

    /** There is space again. */
    private void sealLate() {
        for (OpenContainer container : unsealed) {
            if (unsealed.remove(container)) {
                sealer.submit(container);
            }
        }
    }

    /** Never a {@link NoSpaceException}, which tells that nothing is lost. */
    private static void throwIfLost(Collection<OpenContainer> forced) throws IOException {
        IOException failure = null;
        for (OpenContainer container : forced) {
            IOException loss = container.reportLoss();
            if (loss != null && failure == null) {
                failure = new IOException("chunks of " + container + " are lost: " + loss.getMessage(), loss);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Whether a chunk was given this id, and could not be stored. Nothing must refer to it. Of a chunk that is still on its way
     * to the disk this is known only after the next {@link #force}, whether that throws or not.
     */
    public boolean isLost(long chunkId) {
        OpenContainer unsealed = open.get(ChunkId.container(chunkId));
        return unsealed != null && unsealed.isLost(ChunkId.slot(chunkId));
    }

    /**
     * The caller declares that nothing it will commit refers to a chunk that {@link #isLost}: what {@link #force} has reported
     * it reports no more. The chunks stay lost. What is lost after the last force that threw is not meant; it is still to be
     * reported.
     */
    public void abandonLost() {
        open.values().forEach(OpenContainer::abandonLost);
    }

    /**
     * Forces and seals every container, as a volume does when it is closed. Writers may go on; they get new ones. A container
     * that failed earlier is left to the next {@link #open}.
     *
     * @throws IOException if {@link #force} does, or a container could not be sealed; the others are sealed nonetheless
     */
    public void sealAll() throws IOException {
        IOException failure = null;
        try {
            force();
        } catch (IOException e) {
            failure = e;
        }
        Set<OpenContainer> sealing = new LinkedHashSet<>(open.values());
        for (WriteLane lane : lanes.all()) {
            OpenContainer current = lane.takeCurrent();
            if (current != null) {
                sealing.add(current);
            }
        }
        // None of them is in a lane any more. Whether somebody else has one sealed meanwhile, or finds that it can't
        // be: each is tried once
        // more, and what came of that is told.
        List<CompletableFuture<Optional<IOException>>> outcomes = new ArrayList<>();
        for (OpenContainer container : sealing) {
            if (!container.isFailed()) {
                outcomes.add(sealer.submit(container));
            }
        }
        for (CompletableFuture<Optional<IOException>> outcome : outcomes) {
            Optional<IOException> unsealedFor = outcome.join();
            if (unsealedFor.isPresent()) {
                failure = first(failure, unsealedFor.get());
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static IOException first(@Nullable IOException earlier, IOException later) {
        if (earlier == null) {
            return later;
        }
        earlier.addSuppressed(later);
        return earlier;
    }

    /** Visits the id of every sealed container, in no particular order. */
    public void forEachContainer(LongConsumer visitor) throws IOException {
        for (String name : directory.list()) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.SEALED_SUFFIX);
            if (container.isPresent()) {
                visitor.accept(container.getAsLong());
            }
        }
    }

    /** Reads and checks the directory of a sealed container. */
    public SealedContainer directory(long container) throws IOException {
        return reader.directory(container);
    }

    /** Number of containers, sealed or not. */
    public long containers() {
        return sealedContainers.get() + open.size();
    }

    /** Bytes of all container files. */
    public long storedBytes() {
        long bytes = sealedBytes.get();
        for (OpenContainer container : open.values()) {
            bytes += container.fileBytes();
        }
        return bytes;
    }

    public ReadStatistics readStatistics() {
        return reader.statistics();
    }

    /** Frees everything. Containers not sealed stay as they are in their files; the next {@link #open} seals them. Idempotent. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        sealer.close();
        for (OpenContainer container : open.values()) {
            container.close();
        }
        reader.close();
        compressor.close();
    }
}
