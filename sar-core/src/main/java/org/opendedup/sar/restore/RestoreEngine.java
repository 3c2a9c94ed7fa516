package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.metadata.RecipeStore;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore;
import org.opendedup.sar.restore.frame.BackgroundFrames;
import org.opendedup.sar.restore.frame.DamageListener;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.frame.ReadTier;
import org.opendedup.sar.restore.frame.RecipePieces;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.TieredReads;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.restore.frame.Zeros;
import org.opendedup.sar.restore.lookahead.Lookahead;
import org.opendedup.sar.restore.lookahead.ReadStreams;
import org.opendedup.sar.restore.lookahead.StepReads;
import org.opendedup.sar.restore.lookahead.StreamBudget;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.tier.promotion.HomeFrames;

/**
 * The read path: reads the chunks that a file's recipe names, through the cache and the containers.
 *
 * <ol>
 *   <li>{@link RecipeStore}: the references of the range
 *   <li>{@link FrameCache}: frames in memory
 *   <li>{@link ContainerStore#readFrames}: missing frames, by container, in the order of the file, neighbours in one
 *       read
 * </ol>
 *
 * With an SSD, {@link TieredReads} serves the range. For a sequential reader the chunks were fetched ahead: see
 * {@link Lookahead}. Every frame read from the disk is checked (CRC). Every chunk taken from a frame or from the SSD is
 * checked against the four bytes of its fingerprint in the recipe. Safe for use by many threads.
 */
public final class RestoreEngine {
    /**
     * Largest request, in bytes, whose missing frames are not looked up first: it needs one or two frames, so a lookup
     * would gain nothing.
     */
    private static final int SMALL_REQUEST_BYTES = 16 << 10;
    /**
     * Most pieces of a request that are read at once with an SSD. Each piece may need a frame of its own, which is held
     * until it is copied. A usual request of 1 MiB has up to 257 pieces.
     */
    private static final int MAX_PIECES = 320;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final ContainerStore containers;
    private final DiskQueue disk;
    private final FrameLoader loader;
    private final FrameCache frames;
    private final @Nullable TieredReads tier;
    private final ByteGauge memory = new ByteGauge();
    private final ReadStreams streams;

    /**
     * The places that files are read from.
     *
     * @param pageBytes bytes of a file in one page of its recipe
     * @param disk queue of the device that holds the containers
     * @param tier the SSD with copies of chunks; null if there is none
     */
    public record Sources(
            RecipeStore recipes,
            int pageBytes,
            ContainerStore containers,
            DiskQueue disk,
            @Nullable ReadTier tier) {}

    /**
     * @param frames cache for scattered reads
     * @param budget memory of the sequential readers
     * @param prefetchers threads that fetch ahead of the sequential readers
     * @param verifyFingerprints whether every chunk read from the disk is also hashed; copies on an SSD are not used
     *     then, because their full fingerprints are not available
     */
    public RestoreEngine(
            Sources sources,
            FrameCache frames,
            StreamBudget budget,
            ScheduledExecutorService prefetchers,
            boolean verifyFingerprints,
            DamageListener damage) {
        recipes = sources.recipes();
        pageBytes = sources.pageBytes();
        containers = sources.containers();
        disk = sources.disk();
        this.frames = frames;
        loader = new FrameLoader(containers, disk, frames, verifyFingerprints, damage);
        ReadTier usable = verifyFingerprints ? null : sources.tier();
        tier = usable == null ? null : new TieredReads(usable, loader);
        StepReads reads = new StepReads(loader, new PinnedChunks(memory, budget.mostHeldBytes()), usable);
        streams = new ReadStreams(recipes, pageBytes, reads, budget, prefetchers);
    }

    /** Returns a reader of one file; it is read ahead when it reads in sequence. */
    public ReadStream stream(long inode) {
        return stream(inode, ReadStream.MOST_POSITIONS);
    }

    /** Returns a reader of one file that is read ahead at {@code mostPositions} positions at most. */
    public ReadStream stream(long inode, int mostPositions) {
        return new ReadStream(this, inode, mostPositions);
    }

    /**
     * Returns a restore of many files at once. It takes turns at the disk with all other readers; {@code model} is the
     * cost model of its disk.
     */
    public ContainerOrderRestore inContainerOrder(DiskModel model) {
        return new ContainerOrderRestore(containers, disk, model, true);
    }

    /** Returns frames for background work, which takes turns at the disk with all readers. */
    public HomeFrames inBackground() {
        return new BackgroundFrames(containers, disk, frames);
    }

    public ReadStreams streams() {
        return streams;
    }

    /** Returns the sequential readers that are read ahead now, in no particular order. */
    public List<StreamStatus> readers() {
        return streams.status();
    }

    /**
     * Returns the gauge of the memory that sequential readers use: chunks held for them, data read and not decoded yet,
     * and tables.
     */
    public ByteGauge memory() {
        return memory;
    }

    /** Number of frames found in memory. */
    public long cacheHits() {
        return loader.hits();
    }

    /** Number of frames read from the disk. */
    public long cacheMisses() {
        return loader.misses();
    }

    /**
     * Copies {@code length} bytes of a file, from {@code offset} on, into {@code target}. Holes, and bytes after the
     * end of the recipe, are zeros.
     */
    public void read(long inode, long offset, int length, ByteBuffer target) throws IOException {
        read(inode, offset, length, false, target);
    }

    /**
     * As above.
     *
     * @param continues whether the reader has just read the bytes directly ahead of the range: a chunk that spans the
     *     start of the range was then already reported to the promotion, and is not reported again
     */
    void read(long inode, long offset, int length, boolean continues, ByteBuffer target) throws IOException {
        if (tier != null) {
            RecipePieces pieces = pieces(inode, offset, offset + length);
            boolean isTold = continues;
            for (WantedChunks wanted = wanted(inode, pieces); wanted.pieces() > 0; wanted = wanted(inode, pieces)) {
                tier.read(wanted, inode, isTold, target);
                isTold = false;
            }
        } else {
            readFrames(inode, offset, length, target);
        }
    }

    private void readFrames(long inode, long offset, int length, ByteBuffer target) throws IOException {
        if (length > SMALL_REQUEST_BYTES) {
            long[] missing = missingFrames(inode, offset, offset + length);
            if (missing.length > 0) {
                loader.fetch(inode, () -> missing, FrameLoader.Sink.NONE);
            }
        }
        RecipePieces pieces = pieces(inode, offset, offset + length);
        Frame frame = null;
        while (pieces.next()) {
            if (pieces.isZero()) {
                Zeros.put(target, pieces.length());
                continue;
            }
            long chunk = pieces.chunkId();
            if (frame == null || !holds(frame, chunk)) {
                frame = loader.frame(inode, chunk);
            }
            int from = pieces.chunkOffset();
            loader.check(inode, frame, chunk, pieces.check(), from + pieces.length());
            target.put(frame.data(), frame.offset(ChunkId.slot(chunk)) + from, pieces.length());
        }
    }

    private RecipePieces pieces(long inode, long from, long to) {
        return new RecipePieces(recipes, pageBytes, inode, from, to);
    }

    private static boolean holds(Frame frame, long chunk) {
        int slot = ChunkId.slot(chunk) - frame.firstSlot();
        return frame.container() == ChunkId.container(chunk) && slot >= 0 && slot < frame.count();
    }

    /**
     * Reads like {@link #read}, but only from chunks that are fetched ahead of a reader; waits for chunks that are
     * being fetched.
     *
     * @param ahead the lookahead of the reader's position; null if only other positions are read ahead
     * @param chunks receives the ids of the chunks
     * @return false if a chunk of the range was not fetched; then the caller discards what was put into {@code target}
     */
    public boolean readAhead(
            @Nullable Lookahead ahead, long inode, long offset, int length, ByteBuffer target, List<Long> chunks)
            throws IOException {
        RecipePieces pieces = pieces(inode, offset, offset + length);
        while (pieces.next()) {
            if (pieces.isZero()) {
                Zeros.put(target, pieces.length());
                continue;
            }
            long chunkId = pieces.chunkId();
            try (Pinned chunk =
                    ahead == null ? streams.chunk(chunkId) : ahead.chunk(chunkId, pieces.referenceOffset())) {
                int from = pieces.chunkOffset();
                if (chunk == null || chunk.check() != pieces.check() || chunk.length() < from + pieces.length()) {
                    return false;
                }
                target.put(chunk.data(), chunk.offset() + from, pieces.length());
                chunks.add(chunkId);
            }
        }
        return true;
    }

    /** Returns the next pieces, at most {@link #MAX_PIECES}. */
    private WantedChunks wanted(long inode, RecipePieces pieces) throws IOException {
        WantedChunks wanted = new WantedChunks(inode, loader, true);
        while (wanted.pieces() < MAX_PIECES && pieces.next()) {
            wanted.add(pieces);
        }
        return wanted;
    }

    /**
     * Returns the frames that a range needs and the cache lacks, each once, in ascending order, as
     * {@code ChunkId.of(container, frame)}.
     */
    private long[] missingFrames(long inode, long from, long to) throws IOException {
        long[] missing = new long[16];
        int count = 0;
        long lastKey = 0;
        RecipePieces pieces = pieces(inode, from, to);
        while (pieces.next()) {
            if (pieces.isZero()) {
                continue;
            }
            long chunk = pieces.chunkId();
            long key = ChunkId.of(ChunkId.container(chunk), loader.frameOf(inode, chunk));
            if (key != lastKey && loader.cached(ChunkId.container(key), ChunkId.slot(key)) == null) {
                missing = count == missing.length ? Arrays.copyOf(missing, count * 2) : missing;
                missing[count++] = key;
            }
            lastKey = key;
        }
        return SortedIds.of(missing, count);
    }
}
