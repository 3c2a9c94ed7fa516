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
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.metadata.RecipeStore;
import org.opendedup.sar.restore.HeldChunks.Held;

/**
 * The read path: follows a file's recipe through the cache and the containers.
 *
 * <ol>
 *   <li>{@link RecipeStore}: the range asked for
 *   <li>{@link FrameCache}: frames in memory
 *   <li>{@link ContainerStore#readFrames}: what is missing, by container, in the order of the file, neighbours in one read
 * </ol>
 *
 * With an SSD the same range takes the way of {@link TieredReads}. What a reader in sequence asks for was fetched before: see {@link
 * Lookahead}. Every frame read from the disk is checked (CRC), and every chunk
 * taken from it or from the SSD against the recipe's four bytes of its fingerprint. Safe for use by many threads.
 */
public final class RestoreEngine {
    /** A request up to this size wants one frame or two: looking for all of them first would gain nothing. */
    private static final int SMALL_REQUEST_BYTES = 16 << 10;
    /**
     * Pieces of a request that are read at once with an SSD: each may want a frame of its own, which is held until it is copied from.
     * A usual request of 1 MiB has up to 257 of them.
     */
    private static final int MAX_PIECES = 320;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final ContainerStore containers;
    private final DiskQueue disk;
    private final FrameLoader loader;
    private final @Nullable TieredReads tier;
    private final ByteGauge memory = new ByteGauge();
    private final ReadStreams streams;

    /**
     * Where files are read from.
     *
     * @param pageBytes bytes of a file in one page of its recipe
     * @param disk the queue before the device that has the containers
     * @param tier the SSD with copies of chunks; null: there is none
     */
    public record Sources(
            RecipeStore recipes,
            int pageBytes,
            ContainerStore containers,
            DiskQueue disk,
            @Nullable ReadTier tier) {}

    /**
     * @param frames keeps what readers here and there read
     * @param budget memory of the readers in sequence
     * @param prefetchers fetch ahead of them
     * @param verifyFingerprints also hash every chunk read from the disk; of copies on an SSD nobody has the fingerprint at hand, so
     *     they are not used then
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
        loader = new FrameLoader(containers, disk, frames, verifyFingerprints, damage);
        ReadTier usable = verifyFingerprints ? null : sources.tier();
        tier = usable == null ? null : new TieredReads(usable, loader);
        StepReads reads = new StepReads(loader, new HeldChunks(memory, budget.mostHeldBytes()), usable);
        streams = new ReadStreams(recipes, pageBytes, reads, budget, prefetchers);
    }

    /** A reader of one file, which is read ahead for when it reads in sequence. */
    public ReadStream stream(long inode) {
        return new ReadStream(this, inode);
    }

    /** Restores many files at once, in turn with all who read here; {@code model} says what its disk does. */
    public ContainerOrderRestore inContainerOrder(DiskModel model) {
        return new ContainerOrderRestore(containers, disk, model, true);
    }

    ReadStreams streams() {
        return streams;
    }

    /** The readers in sequence that are read ahead for now, in no order. */
    public List<StreamStatus> readers() {
        return streams.status();
    }

    /** The memory that readers in sequence take: the chunks held for them, what was read and is not decoded yet, tables. */
    public ByteGauge memory() {
        return memory;
    }

    /** Frames found in memory. */
    public long cacheHits() {
        return loader.hits();
    }

    /** Frames read from the disk. */
    public long cacheMisses() {
        return loader.misses();
    }

    /**
     * Copies {@code length} bytes of a file from {@code offset} on into {@code target}; holes and what lies behind the recipe
     * are zeros.
     */
    public void read(long inode, long offset, int length, ByteBuffer target) throws IOException {
        if (tier != null && tier.isActive()) {
            RecipePieces pieces = pieces(inode, offset, offset + length);
            for (WantedChunks wanted = wanted(inode, pieces); wanted.pieces() > 0; wanted = wanted(inode, pieces)) {
                tier.read(wanted, inode, target);
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
     * As {@link #read}, of what is fetched ahead of a reader; waits for what is on its way.
     *
     * @return false if something of the range is not: then what was put into {@code target} is to be thrown away
     */
    boolean readAhead(Lookahead ahead, long inode, long offset, int length, ByteBuffer target) throws IOException {
        RecipePieces pieces = pieces(inode, offset, offset + length);
        while (pieces.next()) {
            if (pieces.isZero()) {
                Zeros.put(target, pieces.length());
                continue;
            }
            try (Held chunk = ahead.chunk(pieces.chunkId(), pieces.referenceOffset())) {
                int from = pieces.chunkOffset();
                if (chunk == null || chunk.check() != pieces.check() || chunk.length() < from + pieces.length()) {
                    return false;
                }
                target.put(chunk.data(), chunk.offset() + from, pieces.length());
            }
        }
        return true;
    }

    /** The next pieces, as many as are read at once. */
    private WantedChunks wanted(long inode, RecipePieces pieces) throws IOException {
        WantedChunks wanted = new WantedChunks(inode, loader, true);
        while (wanted.pieces() < MAX_PIECES && pieces.next()) {
            wanted.add(pieces);
        }
        return wanted;
    }

    /** The frames a range needs and the cache lacks, each once, rising, as {@code ChunkId.of(container, frame)}. */
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
