package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * <p>Safe for use by many threads. {@link #force}, {@link #sealAll} and {@link #close} wait for the compression
 * workers, so they must not be called from one of them.
 */
public final class ContainerStore implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerStore.class);

    private final Directory directory;
    private final ContainerOptions options;
    private final ContainerIds ids;
    private final LongSupplier salts;
    private final ContainerRecovery recovery;
    private final ExecutorService workers;
    private final Compressor compressor;
    private final InFlightBudget budget;
    private final FrameEncoder encoder;
    private final WriteLanes lanes;
    private final ContainerSealer sealer;
    private final ContainerReader reader;
    private final FrameReads reads;
    private final SealedContainers sealed;

    /** Containers that are not sealed: being written, waiting to be sealed, or failed. */
    private final Map<Long, OpenContainer> open = new ConcurrentHashMap<>();

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
        sealed = new SealedContainers(directory);
        compressor = new Compressor(options.compression());
        budget = new InFlightBudget(options.maxBytesInFlight());
        encoder = new FrameEncoder(options.compression().frameBytes(), compressor, workers, budget);
        reader = new ContainerReader(directory, compressor, tables, claims, frameTableCacheBytes);
        reads = new FrameReads(open, reader);
        sealer = new ContainerSealer(options.maxOpenContainers(), open, sealed, reader, listener);
        lanes = new WriteLanes(options.maxOpenContainers(), encoder.frameBytes(), new LaneContainers());
    }

    /**
     * Opens the containers of a directory. First seals the containers that a crash left open, keeping every frame whose
     * checksum holds. A file that cannot be read whole, or is not the writing that {@code claims} names, is renamed and
     * kept aside. A file without a whole frame is deleted if nothing refers to it.
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
        LongSupplier salts = new SecureRandom()::nextLong;
        return open(directory, options, ids, salts, claims, tables, listener, workers, frameTableCacheBytes);
    }

    /** As above, with salts from the caller: the same chunks then produce the same file. */
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

    /**
     * Returns the containers that {@link #open} found unsealed and sealed. An index that knew them must read them
     * again.
     */
    public List<Long> recovered() {
        return List.copyOf(recovery.recovered());
    }

    /** Returns whether {@link #forEachLost} has any slots to visit. */
    public boolean hasLost() {
        return !recovery.lost().isEmpty();
    }

    /**
     * Visits the slots that the volume refers to and that {@link #open} did not find in what a crash left, container by
     * container.
     */
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

    /** Receives ranges of lost slots; {@code end} is exclusive. */
    @FunctionalInterface
    public interface LostSlots {
        void lost(long container, int first, int end) throws IOException;
    }

    /**
     * Returns the highest container id in any file name when the store was opened, including files kept aside; 0 if
     * there was none.
     */
    public long highestAtOpening() {
        return sealed.highestAtOpening();
    }

    /** Returns whether a container with this id exists, sealed or being written. Does not check its contents. */
    public boolean exists(long container) {
        return open.containsKey(container) || sealed.contains(container);
    }

    /** Returns which writing of a container is stored. */
    public Writing writing(long container) throws IOException {
        OpenContainer unsealed = open.get(container);
        return unsealed == null ? frameTable(container).writing() : unsealed.writing();
    }

    /**
     * Leases an open container to a stream: the one of its last lease if that is free. If all containers are leased,
     * shares another stream's container instead of waiting.
     *
     * @param stream the stream's number, for example an inode number; any value except {@link Long#MIN_VALUE}
     */
    public ContainerWriter writer(long stream) {
        return new ContainerWriter(lanes, lanes.lease(stream), stream, budget);
    }

    /** Creates and seals containers for the lanes. */
    private final class LaneContainers implements WriteLane.Containers {
        @Override
        public OpenContainer create() throws IOException {
            if (closed) {
                throw new IOException("the container store of " + directory + " is closed");
            }
            long id = ids.next();
            OpenContainer created;
            try {
                created = OpenContainer.create(id, salts.getAsLong(), directory, encoder);
            } catch (NoSpaceException | FileAlreadyExistsException e) {
                throw e;
            } catch (IOException e) {
                throw new WriteFailedException("container " + id + " could not be begun: " + e.getMessage(), e);
            }
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

    /** As above; {@code memory} counts the bytes that are read and not decoded yet. */
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

    /**
     * Returns where a container lies on its device; {@link FileLayout#UNKNOWN} if it is being written or cannot be
     * opened.
     */
    public FileLayout layout(long container) {
        return reads.layout(container);
    }

    /** Returns whether a container accepts no more chunks. */
    public boolean isSealed(long container) {
        return !open.containsKey(container);
    }

    /**
     * Returns a container's frame table. For a container that is being written: the frames in its file at this moment.
     */
    public FrameTable frameTable(long container) throws IOException {
        return reads.frameTable(container);
    }

    /**
     * Makes everything appended before the call durable, file names included. Ends the frames being filled; the
     * containers stay open.
     *
     * @throws NoSpaceException if the disk is full. Nothing is lost: a later call makes all of it durable once there is
     *     space
     * @throws IOException if any chunk appended since the store was opened is lost, now or earlier, and
     *     {@link #abandonLost} was not called since
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
        sealer.submitPostponed();
    }

    /**
     * Rewrites the containers that failed in {@link #force} or an append, so that no chunk is lost, and submits them
     * for sealing. Does nothing where none failed.
     *
     * @throws CorruptionException if chunks are lost permanently
     * @throws IOException if the disk still fails; the caller may retry
     */
    public void revive() throws IOException {
        lanes.all().forEach(WriteLane::dropFailed);
        for (OpenContainer container : open.values()) {
            if (container.isFailed()) {
                try {
                    container.revive();
                } finally {
                    // The file may have been replaced even then.
                    reader.forgetFile(container.container());
                }
                if (!container.isFailed()) {
                    log.info("{} was written again after its disk had failed", container);
                    sealer.submit(container);
                }
            }
        }
    }

    /** Throws if chunks are lost. Never throws a {@link NoSpaceException}: that one means that nothing is lost. */
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
     * Returns whether a chunk was given this id and could not be stored. Nothing must refer to such a chunk. For a
     * chunk that is still on its way to the disk, this is known only after the next {@link #force}, whether that throws
     * or not.
     */
    boolean isLost(long chunkId) {
        OpenContainer unsealed = open.get(ChunkId.container(chunkId));
        return unsealed != null && unsealed.isLost(ChunkId.slot(chunkId));
    }

    /**
     * Declares that nothing the caller will commit refers to a chunk that {@link #isLost}: {@link #force} stops
     * reporting the losses it has already reported. The chunks stay lost. Losses after the last force that threw are
     * not covered; they are still reported.
     */
    void abandonLost() {
        open.values().forEach(OpenContainer::abandonLost);
    }

    /**
     * Forces and seals every container, as a volume does when it is closed. Writers may continue; they get new
     * containers. A container that failed earlier is left to the next {@link #open}.
     *
     * @throws IOException if {@link #force} fails, or a container could not be sealed; the others are sealed
     *     nonetheless
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
        // No lane holds any of these containers now. Another thread may have submitted one already, and that sealing
        // may have failed. So each is submitted once more, and the result of that attempt is reported.
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
        sealed.forEachFile(visitor);
    }

    /** Reads and checks the directory of a sealed container. */
    public SealedContainer directory(long container) throws IOException {
        return reader.directory(container);
    }

    /** Returns the number of containers, sealed or not. */
    public long containers() {
        return sealed.count() + open.size();
    }

    /** Returns the total size of all container files, in bytes. */
    public long storedBytes() {
        long bytes = sealed.bytes();
        for (OpenContainer container : open.values()) {
            bytes += container.fileBytes();
        }
        return bytes;
    }

    public ReadStatistics readStatistics() {
        return reader.statistics();
    }

    /**
     * Closes the files and frees the memory of this store. Unsealed containers stay in their files, unchanged; the next
     * {@link #open} seals them. Idempotent.
     */
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
