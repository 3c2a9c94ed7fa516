package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.FrameSink;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.frame.RecipePieces;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.SplitReads;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.restore.frame.Zeros;
import org.opendedup.sar.restore.lookahead.AheadRequest;

/**
 * Reads ranges of files as their recipes name the chunks now: from frames, with an SSD through {@link SplitReads}, or
 * from chunks that were fetched ahead. Safe for use by many threads.
 */
final class RecipeReads {
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
    private final FrameLoader loader;
    private final @Nullable SplitReads hot;

    /** @param hot reads with an SSD; null if there is none */
    RecipeReads(RecipeStore recipes, FrameLoader loader, @Nullable SplitReads hot) {
        this.recipes = recipes;
        this.loader = loader;
        this.hot = hot;
    }

    /**
     * Copies {@code length} bytes of a file, from {@code offset} on, into {@code target}. Holes, and bytes after the
     * end of the recipe, are zeros.
     *
     * @param continues whether the reader has just read the bytes directly ahead of the range: a chunk that spans the
     *     start of the range was then already reported to the promotion, and is not reported again
     */
    void read(long inode, long offset, int length, boolean continues, ByteBuffer target) throws IOException {
        if (hot != null) {
            RecipePieces pieces = pieces(inode, offset, offset + length);
            boolean isReported = continues;
            for (WantedChunks wanted = wanted(inode, pieces); wanted.pieces() > 0; wanted = wanted(inode, pieces)) {
                hot.read(wanted, inode, isReported, target);
                isReported = false;
            }
        } else {
            readFrames(inode, offset, length, target);
        }
    }

    private void readFrames(long inode, long offset, int length, ByteBuffer target) throws IOException {
        if (length > SMALL_REQUEST_BYTES) {
            long[] missing = missingFrames(inode, offset, offset + length);
            if (missing.length > 0) {
                loader.fetch(inode, missing, FrameSink.NONE);
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
            loader.check(inode, frame, chunk, pieces.fingerprintPrefix(), from + pieces.length());
            target.put(frame.data(), frame.offset(ChunkId.slot(chunk)) + from, pieces.length());
        }
    }

    private RecipePieces pieces(long inode, long from, long to) {
        return new RecipePieces(recipes, inode, from, to);
    }

    private static boolean holds(Frame frame, long chunk) {
        int slot = ChunkId.slot(chunk) - frame.firstSlot();
        return frame.container() == ChunkId.container(chunk)
                && slot >= 0
                && slot < frame.count()
                && !frame.isLost(ChunkId.slot(chunk));
    }

    /**
     * Reads like {@link #read}, but only from chunks that are fetched ahead of a reader; waits for chunks that are
     * being fetched.
     *
     * @param ahead the reader's request
     * @param chunks receives the ids of the chunks, each once: a range may have one reference for each of its bytes
     * @return false if a chunk of the range was not fetched; then the caller discards what was put into {@code target}
     */
    boolean readAhead(AheadRequest ahead, long inode, long offset, int length, ByteBuffer target, Set<Long> chunks)
            throws IOException {
        RecipePieces pieces = pieces(inode, offset, offset + length);
        while (pieces.next()) {
            if (pieces.isZero()) {
                Zeros.put(target, pieces.length());
                continue;
            }
            long chunkId = pieces.chunkId();
            try (Pinned chunk = ahead.chunk(chunkId, pieces.referenceOffset())) {
                int from = pieces.chunkOffset();
                if (chunk == null
                        || chunk.fingerprintPrefix() != pieces.fingerprintPrefix()
                        || chunk.length() < from + pieces.length()) {
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
     * Returns the frames that a range needs and the cache lacks, each once, in ascending order, as {@link FrameId}s.
     */
    private long[] missingFrames(long inode, long from, long to) throws IOException {
        long[] missing = new long[16];
        int count = 0;
        long last = 0;
        RecipePieces pieces = pieces(inode, from, to);
        while (pieces.next()) {
            if (pieces.isZero()) {
                continue;
            }
            long chunk = pieces.chunkId();
            long id = FrameId.inContainerOf(chunk, loader.frameOf(inode, chunk));
            if (id != last && loader.cached(FrameId.container(id), FrameId.number(id)) == null) {
                missing = count == missing.length ? Arrays.copyOf(missing, count * 2) : missing;
                missing[count++] = id;
            }
            last = id;
        }
        return SortedIds.of(missing, count);
    }
}
