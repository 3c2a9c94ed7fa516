package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.restore.HeldChunks.Held;
import org.opendedup.sar.tier.ChunkRequest;
import org.opendedup.sar.tier.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of a file as its recipe describes it: pieces in the order of the file, each a run of zeros or a part of a chunk. The chunks
 * stand in a {@link ChunkRequest}, in the same order; one that a page border cuts in two is one piece again.
 */
final class WantedChunks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WantedChunks.class);

    private static final int PIECES = 64;
    /** In place of an offset in a chunk: the piece is zeros. */
    private static final int ZEROS = -1;
    /** In place of a frame's key: its container's frame table is not in memory, so it is not either. */
    private static final long UNKNOWN = 0;

    private final long inode;
    private final FrameLoader loader;
    private final boolean keepsFrames;
    private final ChunkRequest chunks = new ChunkRequest();
    private int count;
    /** Where in its chunk a piece begins, or {@link #ZEROS}. */
    private int[] skips = new int[PIECES];

    private int[] lengths = new int[PIECES];
    /** Chunks whose bytes are in use until this is closed. */
    private final List<Held> used = new ArrayList<>();
    /**
     * Containers that did not tell the frame of a chunk: a bad sector under a frame table takes a disk seconds, which the hundreds of
     * chunks of a container must not take each.
     */
    private final Map<Long, IOException> unreadable = new HashMap<>();

    /** @param keepsFrames whether the frames that are read for them stay in the cache */
    WantedChunks(long inode, FrameLoader loader, boolean keepsFrames) {
        this.inode = inode;
        this.loader = loader;
        this.keepsFrames = keepsFrames;
    }

    boolean keepsFrames() {
        return keepsFrames;
    }

    /** Adds the piece of a recipe. */
    void add(RecipePieces piece) throws IOException {
        if (piece.isZero()) {
            addPiece(ZEROS, piece.length());
        } else {
            addChunk(piece.chunkId(), piece.check(), piece.chunkOffset(), piece.length());
        }
    }

    /** Adds {@code length} bytes from byte {@code skip} of a chunk. */
    void addChunk(long chunk, int check, int skip, int length) throws IOException {
        int last = chunks.count() - 1;
        boolean continues = count > 0
                && skips[count - 1] != ZEROS
                && chunks.chunkId(last) == chunk
                && skips[count - 1] + lengths[count - 1] == skip;
        if (continues) {
            lengths[count - 1] += length;
            chunks.setLength(last, skip + length);
        } else {
            addPiece(skip, length);
            chunks.add(chunk, skip + length, check, loader.knownFrameOf(chunk));
        }
    }

    private void addPiece(int skip, int length) {
        if (count == skips.length) {
            skips = Arrays.copyOf(skips, count * 2);
            lengths = Arrays.copyOf(lengths, count * 2);
        }
        skips[count] = skip;
        lengths[count] = length;
        count++;
    }

    int pieces() {
        return count;
    }

    ChunkRequest chunks() {
        return chunks;
    }

    /** The number of the frame that holds a chunk; see {@link FrameLoader#frameOf}. A container that fails is asked once. */
    int frameOf(long chunkId) throws IOException {
        Long container = ChunkId.container(chunkId);
        IOException known = unreadable.get(container);
        if (known != null) {
            throw new IOException("its container's frames could not be told before: " + known.getMessage(), known);
        }
        try {
            return loader.frameOf(inode, chunkId);
        } catch (IOException e) {
            unreadable.put(container, e);
            throw e;
        }
    }

    /** {@code ChunkId.of(container, frame)} of the frame that holds a chunk and is known. */
    long frameKey(int chunk) {
        return ChunkId.of(ChunkId.container(chunks.chunkId(chunk)), chunks.frame(chunk));
    }

    /** As {@link #frameOf}, but -1 if that can't be told without reading a frame table, or the chunk does not exist. */
    int knownFrameOf(long chunkId) throws IOException {
        return loader.knownFrameOf(chunkId);
    }

    /**
     * The frames of all chunks that are to come from home and have not yet, each once, rising, as {@link #frameKey}. A chunk whose frame
     * can't be found is left out, and stays missing.
     */
    long[] missingFrames() {
        long[] keys = new long[chunks.count()];
        int missing = 0;
        for (int i = 0; i < chunks.count(); i++) {
            if (isMissing(i) && findFrame(i)) {
                keys[missing++] = frameKey(i);
            }
        }
        return SortedIds.of(keys, missing);
    }

    private boolean findFrame(int chunk) {
        if (chunks.frame(chunk) < 0) {
            try {
                chunks.setFrame(chunk, frameOf(chunks.chunkId(chunk)));
            } catch (IOException e) {
                log.debug("chunk {} is left to whoever needs it", ChunkId.toString(chunks.chunkId(chunk)), e);
                return false;
            }
        }
        return true;
    }

    boolean isMissing(int chunk) {
        return chunks.source(chunk) == Source.HOME && chunks.data(chunk) == null;
    }

    /** Gives the chunks that are missing and whose frames are in memory their bytes; returns in how many frames they are. */
    int takeFromMemory() {
        int frames = 0;
        Frame frame = null;
        long lastKey = UNKNOWN;
        for (int i = 0; i < chunks.count(); i++) {
            long key = chunks.frame(i) < 0 || !isMissing(i) ? UNKNOWN : frameKey(i);
            if (key == UNKNOWN) {
                frame = null;
                lastKey = UNKNOWN;
            } else if (key != lastKey) {
                frame = loader.cached(ChunkId.container(key), ChunkId.slot(key));
                lastKey = key;
                frames += frame == null ? 0 : 1;
            }
            if (frame != null && FrameLoader.holds(frame, chunks.chunkId(i), chunks.check(i), chunks.length(i))) {
                setData(i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
        return frames;
    }

    /** Gives a chunk its bytes, from the frame that holds it. */
    void setData(int chunk, Frame frame) {
        int slot = ChunkId.slot(chunks.chunkId(chunk));
        chunks.setData(chunk, frame.data(), frame.offset(slot), frame.length(slot));
    }

    /** Gives a chunk its bytes, and closes them when this is closed. */
    void setData(int chunk, Held held) {
        chunks.setData(chunk, held.data(), held.offset(), held.length());
        used.add(held);
    }

    /** Lets go of the bytes in use: nobody may look at the data of chunks any more. */
    @Override
    public void close() {
        used.forEach(Held::close);
        used.clear();
    }

    /** Copies the range; every chunk has its data. */
    void copyTo(ByteBuffer target) {
        int chunk = 0;
        for (int piece = 0; piece < count; piece++) {
            if (skips[piece] == ZEROS) {
                Zeros.put(target, lengths[piece]);
            } else {
                byte[] data = chunks.data(chunk);
                assert data != null;
                target.put(data, chunks.offset(chunk) + skips[piece], lengths[piece]);
                chunk++;
            }
        }
    }
}
