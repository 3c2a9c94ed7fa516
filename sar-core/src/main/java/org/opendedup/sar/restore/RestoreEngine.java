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
import org.opendedup.sar.metadata.RecipePage;
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

    private final RecipeStore recipes;
    private final int pageBytes;
    private final FrameLoader loader;
    private final @Nullable TieredReads tier;
    private final ByteGauge memory = new ByteGauge();
    private final ReadStreams streams;

    /**
     * Where files are read from.
     *
     * @param pageBytes bytes of a file in one page of its recipe
     * @param tier the SSD with copies of chunks; null: there is none
     */
    public record Sources(
            RecipeStore recipes,
            int pageBytes,
            ContainerStore containers,
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
        loader = new FrameLoader(sources.containers(), frames, verifyFingerprints, damage);
        ReadTier usable = verifyFingerprints ? null : sources.tier();
        tier = usable == null ? null : new TieredReads(usable, loader);
        StepReads reads = new StepReads(loader, new HeldChunks(memory), usable);
        streams = new ReadStreams(recipes, pageBytes, reads, budget, prefetchers);
    }

    /** A reader of one file, which is read ahead for when it reads in sequence. */
    public ReadStream stream(long inode) {
        return new ReadStream(this, inode);
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
            tier.read(wanted(inode, offset, offset + length), inode, target);
        } else {
            readFrames(inode, offset, length, target);
        }
    }

    private void readFrames(long inode, long offset, int length, ByteBuffer target) throws IOException {
        if (length > SMALL_REQUEST_BYTES) {
            loader.fetch(inode, missingFrames(inode, offset, offset + length), FrameLoader.Sink.NONE);
        }
        Frame frame = null;
        for (long at = offset, end = offset + length; at < end; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int to = (int) Math.min(pageBytes, inPage + (end - at));
            frame = copyPage(inode, page, inPage, to, target, frame);
            at += to - inPage;
        }
    }

    /** Copies bytes {@code from} to {@code to} of a page; {@code recent} is a frame that was just used, and so is the result. */
    private @Nullable Frame copyPage(
            long inode, RecipePage page, int from, int to, ByteBuffer target, @Nullable Frame recent)
            throws IOException {
        Frame frame = recent;
        int at = from;
        for (int entry = page.entryAt(from); entry < page.count() && at < to; entry++) {
            int length = Math.min(to, page.end(entry)) - at;
            if (page.isZero(entry)) {
                Zeros.put(target, length);
            } else {
                long chunk = page.chunkId(entry);
                if (frame == null || !holds(frame, chunk)) {
                    frame = loader.frame(inode, chunk);
                }
                copyChunk(inode, frame, page, entry, at - page.start(entry), length, target);
            }
            at += length;
        }
        Zeros.put(target, to - at);
        return frame;
    }

    private static boolean holds(Frame frame, long chunk) {
        int slot = ChunkId.slot(chunk) - frame.firstSlot();
        return frame.container() == ChunkId.container(chunk) && slot >= 0 && slot < frame.count();
    }

    private void copyChunk(long inode, Frame frame, RecipePage page, int entry, int skip, int length, ByteBuffer target)
            throws IOException {
        long chunk = page.chunkId(entry);
        int offset = page.chunkOffset(entry) + skip;
        loader.check(inode, frame, chunk, page.check(entry), offset + length);
        target.put(frame.data(), frame.offset(ChunkId.slot(chunk)) + offset, length);
    }

    /**
     * As {@link #read}, of what is fetched ahead of a reader; waits for what is on its way.
     *
     * @return false if something of the range is not: then what was put into {@code target} is to be thrown away
     */
    boolean readAhead(Lookahead ahead, long inode, long offset, int length, ByteBuffer target) throws IOException {
        for (long at = offset, end = offset + length; at < end; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int to = (int) Math.min(pageBytes, inPage + (end - at));
            if (!copyHeld(ahead, page, at - inPage, inPage, to, target)) {
                return false;
            }
            at += to - inPage;
        }
        return true;
    }

    /** Copies bytes {@code from} to {@code to} of a page, which begins at {@code pageOffset} of the file. */
    private static boolean copyHeld(
            Lookahead ahead, RecipePage page, long pageOffset, int from, int to, ByteBuffer target) throws IOException {
        int at = from;
        for (int entry = page.entryAt(from); entry < page.count() && at < to; entry++) {
            int length = Math.min(to, page.end(entry)) - at;
            if (page.isZero(entry)) {
                Zeros.put(target, length);
            } else {
                Held chunk = ahead.chunk(page.chunkId(entry), pageOffset + page.start(entry));
                int skip = page.chunkOffset(entry) + at - page.start(entry);
                if (chunk == null || chunk.check() != page.check(entry) || chunk.length() < skip + length) {
                    return false;
                }
                target.put(chunk.data(), chunk.offset() + skip, length);
            }
            at += length;
        }
        Zeros.put(target, to - at);
        return true;
    }

    /** What the recipe says of bytes {@code from} to {@code to} of a file. */
    private WantedChunks wanted(long inode, long from, long to) throws IOException {
        WantedChunks wanted = new WantedChunks(inode, loader);
        for (long at = from; at < to; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int end = (int) Math.min(pageBytes, inPage + (to - at));
            wanted.add(page, inPage, end);
            at += end - inPage;
        }
        return wanted;
    }

    /** The frames a range needs and the cache lacks, each once, rising, as {@code ChunkId.of(container, frame)}. */
    private long[] missingFrames(long inode, long from, long to) throws IOException {
        long[] missing = new long[16];
        int count = 0;
        long lastKey = 0;
        for (long at = from; at < to; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int end = (int) Math.min(pageBytes, inPage + (to - at));
            for (int entry = page.entryAt(inPage); entry < page.count() && page.start(entry) < end; entry++) {
                if (page.isZero(entry)) {
                    continue;
                }
                long chunk = page.chunkId(entry);
                long key = ChunkId.of(ChunkId.container(chunk), loader.frameOf(inode, chunk));
                if (key != lastKey && loader.cached(ChunkId.container(key), ChunkId.slot(key)) == null) {
                    missing = count == missing.length ? Arrays.copyOf(missing, count * 2) : missing;
                    missing[count++] = key;
                }
                lastKey = key;
            }
            at += end - inPage;
        }
        return SortedIds.of(missing, count);
    }
}
