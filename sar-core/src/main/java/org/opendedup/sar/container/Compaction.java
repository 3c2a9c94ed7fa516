package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameCopier;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes sealed containers anew without the chunks that no file refers to, one after another in packs of its own, and
 * removes those without any; then gives the space of their old places back. So what is left of many sparse containers
 * lies together. A container keeps its id and its salt, and gets the next generation; its frames keep their numbers and
 * their slots. Compresses them harder on the way if that is asked for.
 *
 * <p>Nothing changes for readers until {@link #force} and a commit after it. Without these, for example after a crash,
 * the old place is valid and the new bytes belong to no container. For use by one thread.
 */
public final class Compaction implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Compaction.class);

    /**
     * Containers in memory at once: one that is read or written, and two that are copied. Each takes twice
     * {@link ContainerSize#MAX_FILE_BYTES}; together no more than a restore in container order, which never runs
     * meanwhile.
     */
    private static final int LOADED = 3;

    /**
     * How a frame that is stored raw is tried before it is compressed harder. For a frame that does not shrink this
     * costs 0.15 to 0.3 ms per MB, level 9 0.4 to 0.7, level 12 1.4 to 2.1 and level 19 forty. At most 0.2 % of the
     * stored bytes are lost: of Java archives 0.07 % with level 9, of manuals 0.02 %.
     */
    private static final Compression PROBE = new Compression(Compression.Codec.ZSTD, 1, FrameFormat.MAX_RAW_BYTES);

    private final SealedContainers containers;
    private final Packs packs;
    private final ExecutorService workers;
    private final RewrittenContainers rewritten;
    private final PackSpace space;
    /** Whether places of recovered containers wait for a commit. */
    private final BooleanSupplier isRecovering;
    /** zstd level to compress anew with; 0: frames that keep all their chunks are copied as they are. */
    private final int level;
    /** Compresses the frames that are compressed anew. */
    private final Compressor recompressor;

    /** Tells which raw frames are worth trying to compress harder; null if that costs as much as trying. */
    private final @Nullable Compressor probe;

    private final FrameDecoder decoder;

    /** Memory for containers that can be loaded. */
    private final Deque<GenerationCopier> free = new ArrayDeque<>();
    /** Containers that are loaded and not written, in their order. */
    private final Deque<UnderWay> underWay = new ArrayDeque<>();
    /** The container that was examined last, in the memory of the first free copier. */
    private @Nullable Whole examined;
    /** The pack that is written to; null before the first container, and after a failure. */
    private @Nullable Pack pack;
    /** What lies in the pack and was not forced. */
    private final Map<Long, Copy> copies = new LinkedHashMap<>();

    private record Copy(StoredContainer from, StoredContainer to, FrameTable table, boolean keepsOld) {}

    Compaction(
            SealedContainers containers,
            Packs packs,
            FrameDecoder decoder,
            Compressor compressor,
            ExecutorService workers,
            RewrittenContainers rewritten,
            PackSpace space,
            BooleanSupplier isRecovering,
            int level) {
        this.containers = containers;
        this.packs = packs;
        this.workers = workers;
        this.level = level;
        this.decoder = decoder;
        // A compressor takes frames of any size.
        recompressor = level == 0
                ? compressor
                : new Compressor(new Compression(Compression.Codec.ZSTD, level, FrameFormat.MAX_RAW_BYTES));
        // In a volume that compresses nothing, a raw frame was not tried.
        probe = recompressor.isTrialSlow() && compressor.codec() != Compression.Codec.NONE
                ? new Compressor(PROBE)
                : null;
        for (int i = 0; i < LOADED; i++) {
            free.add(new GenerationCopier(decoder, probe));
        }
        this.rewritten = rewritten;
        this.space = space;
        this.isRecovering = isRecovering;
    }

    /** Hears what became of the containers that were loaded, in their order. */
    public interface Results {
        /**
         * A container was copied; {@code bytes} is the length of the copy, and {@code saved} by how much it is smaller
         * because frames were compressed harder.
         */
        void copied(long container, long bytes, long saved);

        /** A container that was loaded to be compressed harder stays in its place: that saves too little. */
        void incompressible(long container);

        /**
         * Chunks of a container in consecutive slots are not what was written, and were not known to be damaged. The
         * container stays as it is.
         */
        void damaged(long container, int firstSlot, int slots, IOException why);
    }

    /**
     * Makes room in memory for one more container: writes the oldest one if there is none. To be called before
     * {@link #load}, without a turn at the disk.
     *
     * @throws org.opendedup.sar.common.NoSpaceException if there is no room for the copy
     */
    public void makeReady(Results results) throws IOException {
        if (free.isEmpty()) {
            writeOldest(results);
        }
    }

    /**
     * Reads a sealed container with one request, or block by block if one of them cannot be read. Its next generation
     * is then made by another thread, while the caller goes on. It is not made if a chunk that stays is in a block that
     * cannot be read: the block may be readable another time.
     *
     * @param kept slots whose chunks stay
     * @param damaged slots that are known to be damaged: a frame that cannot be decoded is copied as it is if it has
     *     one of them. So no error of a single read is ever written to the disk as damage
     * @param ifSmaller whether the container is only written anew if it gets smaller by
     *     1/{@value FrameCopier#MIN_SAVING}
     * @return the container's directory
     * @throws CorruptionException if the directory is damaged
     */
    public SealedContainer load(long container, BitSet kept, BitSet damaged, boolean ifSmaller) throws IOException {
        Whole whole = read(container, free.element(), containers::whole);
        begin(whole, kept, damaged, ifSmaller, false, new Replacements());
        return whole.directory();
    }

    private interface WholeReading {
        Whole read(long container, byte[] buffer) throws IOException;
    }

    private Whole read(long container, GenerationCopier scratch, WholeReading reading) throws IOException {
        Whole whole;
        try {
            whole = reading.read(container, scratch.source);
        } catch (CorruptionException e) {
            throw e;
        } catch (IOException badBlock) {
            NoAnswer.rethrow(badBlock);
            log.debug("container {} is read block by block", container, badBlock);
            whole = containers.salvaged(container, scratch.source);
        }
        scratch.source = whole.bytes();
        return whole;
    }

    /**
     * Reads what the disk returns of a sealed container with damaged frames, and verifies the frames that have a slot
     * of {@code damaged}. A block that cannot be read is zeros. If the directory is damaged, makes it anew from the
     * frames, and verifies all of them.
     *
     * @param known what is known of its chunks from elsewhere, for frames that do not tell it
     * @throws CorruptionException if the container is missing, or its directory cannot be made anew
     */
    public DamagedContainer examine(long container, BitSet damaged, KnownChunks known) throws IOException {
        GenerationCopier scratch = free.element();
        try {
            Whole whole = read(container, scratch, containers::lastingWhole);
            examined = whole;
            known.addTo(whole.directory(), damaged);
            return DamagedContainer.of(whole, damaged, decoder, false);
        } catch (CorruptionException noDirectory) {
            log.debug("the directory of container {} is made anew", container, noDirectory);
            Whole whole = containers.withoutDirectory(container, known, scratch.source);
            scratch.source = whole.bytes();
            return examineAll(whole, true);
        }
    }

    /**
     * As {@link #examine}, of a container whose pack is missing or cut short.
     *
     * @param known what is known of its chunks from elsewhere
     * @throws CorruptionException if the numbers of its frames are not known
     */
    public DamagedContainer examineRemains(long container, KnownChunks known) throws IOException {
        GenerationCopier scratch = free.element();
        Whole whole = containers.remains(container, known, scratch.source);
        scratch.source = whole.bytes();
        return examineAll(whole, false);
    }

    /**
     * As {@link #examine}, with the bytes of a former place in the place of the present ones, of which nothing is left.
     *
     * @throws CorruptionException if the container is not there either
     */
    public DamagedContainer examineFormer(long container, StoredContainer place) throws IOException {
        GenerationCopier scratch = free.element();
        Whole former = containers.former(container, place, scratch.source);
        scratch.source = former.bytes();
        StoredContainer present = Objects.requireNonNull(containers.stored(container));
        Whole whole = new Whole(container, present, former.directory(), former.bytes(), former.isComplete());
        return examineAll(whole, false);
    }

    private DamagedContainer examineAll(Whole whole, boolean isMadeAnew) throws IOException {
        examined = whole;
        BitSet all = new BitSet();
        all.set(0, whole.table().slots());
        return DamagedContainer.of(whole, all, decoder, isMadeAnew);
    }

    /**
     * Returns the place of a container if reads are of a copy of it, which may be right where {@link #examine}, which
     * reads it where it lasts, finds damage; null otherwise.
     */
    public @Nullable StoredContainer copied(long container) throws IOException {
        StoredContainer stored = containers.stored(container);
        return stored != null && containers.isCopy(stored) ? stored : null;
    }

    /**
     * Returns the chunks that can be read in a former place of a container; each has the fingerprint that the directory
     * in that place lists. The memory of {@link #examine} is not used: it may have the present writing.
     *
     * @param known gets what that directory lists
     * @throws CorruptionException if the container is not there
     */
    public FormerChunks formerChunks(long container, StoredContainer place, BitSet slots, KnownChunks known)
            throws IOException {
        Whole whole = containers.former(container, place, new byte[0]);
        FrameTable table = whole.table();
        FrameSalvage salvage = new FrameSalvage(decoder);
        FrameContent content = new FrameContent(decoder.cipher());
        Map<Integer, byte[]> chunks = new HashMap<>();
        Map<Integer, Integer> checksums = new HashMap<>();
        known.putAll(whole.directory());
        int slot = slots.nextSetBit(0);
        while (slot >= 0) {
            int frame = table.frameOf(slot);
            if (frame >= 0) {
                chunks.putAll(salvage.chunks(whole, frame));
                checksums.put(frame, DamagedContainer.checksum(whole, frame, content));
                slot = table.firstSlot(frame) + table.slotCount(frame) - 1;
            }
            slot = slots.nextSetBit(slot + 1);
        }
        return new FormerChunks(chunks, checksums);
    }

    /**
     * Makes the next generation of the container that was {@link #examine examined} last, with other bytes in the place
     * of damaged ones. A damaged frame that {@code replacements} does not have is copied as it is. The old place stays:
     * see {@link #giveBack}.
     *
     * @param kept slots whose chunks stay
     * @param damaged slots that are known to be damaged
     * @return the old place
     */
    public StoredContainer heal(BitSet kept, BitSet damaged, Replacements replacements) {
        Whole whole = Objects.requireNonNull(examined);
        examined = null;
        begin(whole, kept, damaged, false, true, replacements);
        return whole.stored();
    }

    private void begin(
            Whole whole, BitSet kept, BitSet damaged, boolean ifSmaller, boolean keepsOld, Replacements replacements) {
        GenerationCopier scratch = free.remove();
        scratch.source = whole.bytes();
        scratch.begin(whole, kept, damaged, recompressor, level, replacements);
        CompletableFuture<NextGeneration> copying = new CompletableFuture<>();
        workers.execute(() -> copyFrame(scratch, copying));
        underWay.add(new UnderWay(whole.container(), scratch, copying, ifSmaller, keepsOld));
    }

    /**
     * Copies one frame, and leaves the next one to another turn of a worker: so a frame that a writer or a reader waits
     * for waits for a frame at most, however long the container takes.
     */
    private void copyFrame(GenerationCopier scratch, CompletableFuture<NextGeneration> copying) {
        try {
            if (scratch.copyFrame()) {
                workers.execute(() -> copyFrame(scratch, copying));
            } else {
                copying.complete(scratch.end());
            }
        } catch (IOException | RuntimeException | Error e) {
            copying.completeExceptionally(e);
        }
    }

    /** Writes everything that was loaded. */
    public void writeLoaded(Results results) throws IOException {
        while (!underWay.isEmpty()) {
            writeOldest(results);
        }
    }

    /** Drops what was loaded and is not written. */
    public void dropLoaded() {
        for (UnderWay dropped : underWay) {
            dropped.awaitEnd();
            free.add(dropped.scratch());
        }
        underWay.clear();
    }

    private void writeOldest(Results results) throws IOException {
        UnderWay oldest = underWay.remove();
        try {
            NextGeneration next = oldest.await();
            if (oldest.ifSmaller()
                    && !FrameCopier.isWorth(
                            next.frameBytesBefore(), next.frames().length())) {
                rewritten.marked(oldest.container(), next.from(), level);
                results.incompressible(oldest.container());
                return;
            }
            StoredContainer to = write(next);
            copies.put(oldest.container(), new Copy(next.from(), to, next.table(), oldest.keepsOld()));
            results.copied(oldest.container(), to.bytes(), next.savedBytes());
        } catch (DamagedFrame e) {
            results.damaged(oldest.container(), e.firstSlot(), e.slots(), e);
        } finally {
            free.add(oldest.scratch());
        }
    }

    private StoredContainer write(NextGeneration next) throws IOException {
        Bytes tail = ContainerFormat.tail(
                next.writing(),
                next.table().encode(),
                next.chunkLists(),
                ContainerFormat.HEADER_BYTES + next.frames().length(),
                next.hasLost());
        Pack target = pack(next.writing().identity().container());
        target.lock().lock();
        try {
            long end = target.position();
            long start = PackFormat.align(end);
            target.append(ContainerFormat.begin(next.writing(), (int) (start - end), next.hasLost())
                    .buffer());
            target.append(
                    ByteBuffer.wrap(next.frames().array(), 0, next.frames().length()));
            target.append(tail.buffer());
            target.startWriting();
            return new StoredContainer(
                    next.writing().identity().writing(),
                    StoredContainer.State.SEALED,
                    target.number(),
                    start,
                    target.position() - start,
                    next.table().slots(),
                    next.rawBytes(),
                    next.recompressed());
        } finally {
            target.lock().unlock();
        }
    }

    /** Returns a pack whose number is not less than the container's id, which may be younger than the present pack. */
    private Pack pack(long container) throws IOException {
        Pack present = pack;
        if (present != null && packs.takes(present, container)) {
            return present;
        }
        force();
        closePack();
        Pack created = packs.forRewriting();
        pack = created;
        return created;
    }

    /**
     * Makes an empty pack with a number above all others: the bound of the ids that were used is then not in a pack
     * that is to go.
     */
    public void makeBound() throws IOException {
        closePack();
        Pack bound = packs.aboveAll();
        bound.forceNow();
        bound.syncName();
        bound.nameIsDurable();
        bound.retire();
    }

    /** Removes a container to whose chunks no file refers. Takes effect with the next commit. */
    public void remove(long container) throws IOException {
        StoredContainer stored = containers.stored(container);
        if (stored != null) {
            rewritten.removed(container, stored);
        }
    }

    /**
     * Makes the copies durable. The next commit that begins after this makes them valid.
     *
     * @throws IOException if the disk fails: the containers copied since the last call stay in their old places
     */
    public void force() throws IOException {
        Pack written = pack;
        if (written == null || copies.isEmpty()) {
            return;
        }
        try {
            written.forceNow();
            written.syncName();
        } catch (IOException e) {
            // A later force of the same file could report success for pages that were lost.
            copies.clear();
            closePack();
            throw e;
        }
        written.nameIsDurable();
        copies.forEach(
                (container, copy) -> rewritten.moved(container, copy.from(), copy.to(), copy.table(), copy.keepsOld()));
        copies.clear();
    }

    /** Returns whether the space of a container comes back, and not only that of a pack as a whole. */
    public boolean givesPlacesBack() throws IOException {
        return space.givesPlacesBack();
    }

    /** Returns the lengths in bytes of the packs that are not written to, by the number of the pack. */
    public Map<Long, Long> packBytes() throws IOException {
        return space.packBytes();
    }

    /** Returns the share of a pack that must be dead at least, so that it pays to write the rest of it anew. */
    public double leastDeadShare(long pack) throws IOException {
        return space.leastDeadShare(pack);
    }

    /** Returns whether {@link #giveBackOldPlaces} has something to give back, as far as it is committed. */
    public boolean hasOldPlaces() {
        return rewritten.hasVacated();
    }

    /**
     * Gives the old places of the containers that were moved or removed back to the file system, as far as that is
     * committed. No reader may use them any more: each uses a place for as long as one read takes, and the caller has
     * waited for that since the commit.
     *
     * @return bytes given back; 0 if the file system cannot free a part of a file
     */
    public long giveBackOldPlaces() throws IOException {
        return space.giveBack(rewritten.takeVacated());
    }

    /**
     * Gives a place back that {@link #heal} left, under the same conditions.
     *
     * @return as {@link #giveBackOldPlaces}
     */
    public long giveBack(StoredContainer place) throws IOException {
        return space.giveBack(List.of(place));
    }

    /**
     * Gives back all space in packs that no container has, and deletes packs without a container: what a crash or a
     * failed write left, and what {@link #giveBackOldPlaces} could not give back. Does nothing while changes of the
     * container table wait for a commit. Must not be called if the packs may belong to another history of the volume.
     * Ends the pack of this object, so that it is swept as well.
     *
     * @return bytes given back
     */
    public long sweep() throws IOException {
        closePack();
        return rewritten.isEmpty() && !isRecovering.getAsBoolean() ? space.sweep() : 0;
    }

    private void closePack() {
        Pack present = pack;
        if (present != null) {
            present.retire();
            pack = null;
        }
    }

    /** Ends the pack. Copies that were not forced are dropped, and so is what was loaded. Idempotent. */
    @Override
    public void close() {
        dropLoaded();
        copies.clear();
        closePack();
        if (level > 0) {
            recompressor.close();
        }
        if (probe != null) {
            probe.close();
        }
    }
}
