package org.opendedup.sar.restore.frame;

import com.carrotsearch.hppc.LongIntHashMap;
import com.carrotsearch.hppc.procedures.LongIntProcedure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of a file as its recipe describes it: pieces in the order of the file, each a run of zeros or a part of a
 * chunk. Unlike {@link RecipePieces}, it keeps all pieces of the range, with the bytes of their chunks. The chunks are
 * in a {@link ChunkRequest}, in the same order. A chunk that a page border cuts in two is one piece here.
 */
public final class WantedChunks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WantedChunks.class);

    private static final int PIECES = 64;
    /** Replaces an offset in a chunk: the piece is zeros. */
    private static final int ZEROS = -1;
    /**
     * Replaces the id of a frame: its container's frame table is not in memory, so the frame is not in memory either.
     */
    private static final long UNKNOWN = 0;

    private final long inode;
    private final FrameLoader loader;
    private final boolean keepsFrames;
    private final ChunkRequest chunks = new ChunkRequest();
    private int count;
    /** Offset in its chunk at which a piece begins, or {@link #ZEROS}. */
    private int[] skips = new int[PIECES];

    private int[] lengths = new int[PIECES];
    /** Chunks whose bytes are in use until this is closed. */
    private final List<Pinned> used = new ArrayList<>();
    /**
     * Containers whose frame table could not be read. A bad sector under a frame table takes a disk seconds, which must
     * be spent once for a container, not for each of its hundreds of chunks.
     */
    private final Map<Long, IOException> unreadable = new HashMap<>();

    /** @param keepsFrames whether the frames that are read for them stay in the cache */
    public WantedChunks(long inode, FrameLoader loader, boolean keepsFrames) {
        this.inode = inode;
        this.loader = loader;
        this.keepsFrames = keepsFrames;
    }

    public boolean keepsFrames() {
        return keepsFrames;
    }

    /** Adds a piece of a recipe. */
    public void add(RecipePieces piece) throws IOException {
        if (piece.isZero()) {
            addPiece(ZEROS, piece.length());
        } else {
            addChunk(piece.chunkId(), piece.fingerprintPrefix(), piece.chunkOffset(), piece.length());
        }
    }

    /** Adds {@code length} bytes of a chunk, from byte {@code skip} on. */
    public void addChunk(long chunk, int fingerprintPrefix, int skip, int length) throws IOException {
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
            chunks.add(chunk, skip + length, fingerprintPrefix, loader.knownFrameOf(chunk));
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

    public int pieces() {
        return count;
    }

    public ChunkRequest chunks() {
        return chunks;
    }

    /**
     * Returns the number of the frame that holds a chunk; see {@link FrameLoader#frameOf}. A container that fails is
     * tried once.
     */
    public int frameOf(long chunkId) throws IOException {
        Long container = ChunkId.container(chunkId);
        IOException known = unreadable.get(container);
        if (known != null) {
            throw new IOException("the frames of its container could not be located: " + known.getMessage(), known);
        }
        try {
            return loader.frameOf(inode, chunkId);
        } catch (IOException e) {
            unreadable.put(container, e);
            throw e;
        }
    }

    /** Returns the {@link FrameId} of the frame that holds a chunk; the frame must be known. */
    public long frameId(int chunk) {
        return FrameId.inContainerOf(chunks.chunkId(chunk), chunks.frame(chunk));
    }

    /** As {@link #frameOf}, but -1 if the frame table would have to be read, or the chunk does not exist. */
    public int knownFrameOf(long chunkId) throws IOException {
        return loader.knownFrameOf(chunkId);
    }

    /**
     * Returns the frames of all chunks that are missing and are to be read from home, each once, in ascending order, as
     * {@link #frameId}. A chunk whose frame cannot be found is left out, and stays missing.
     */
    public long[] missingFrames() {
        if (loader.answersAtOnce()) {
            expectUnknown();
        }
        long[] ids = new long[chunks.count()];
        int missing = 0;
        for (int i = 0; i < chunks.count(); i++) {
            if (isMissing(i) && findFrame(i)) {
                ids[missing++] = frameId(i);
            }
        }
        return SortedIds.of(ids, missing);
    }

    /** Asks for the containers whose frame tables are to be read, all at the same time. */
    private void expectUnknown() {
        LongIntHashMap wanted = new LongIntHashMap();
        for (int i = 0; i < chunks.count(); i++) {
            if (isMissing(i) && chunks.frame(i) < 0) {
                wanted.addTo(ChunkId.container(chunks.chunkId(i)), chunks.length(i));
            }
        }
        wanted.forEach((LongIntProcedure) loader::expect);
    }

    private boolean findFrame(int chunk) {
        if (chunks.frame(chunk) < 0) {
            try {
                chunks.setFrame(chunk, frameOf(chunks.chunkId(chunk)));
            } catch (IOException e) {
                log.debug(
                        "chunk {} is not read ahead; a reader that needs it gets the error",
                        ChunkId.toString(chunks.chunkId(chunk)),
                        e);
                return false;
            }
        }
        return true;
    }

    public boolean isMissing(int chunk) {
        return chunks.source(chunk) == Source.HOME && chunks.data(chunk) == null;
    }

    /** Returns whether chunks are to be read from the SSD. */
    boolean areAnyOnSsd() {
        for (int i = 0; i < chunks.count(); i++) {
            if (chunks.source(i) == Source.SSD) {
                return true;
            }
        }
        return false;
    }

    /** Sets the data of missing chunks whose frames are in memory; returns the number of these frames. */
    int takeFromMemory() {
        int frames = 0;
        Frame frame = null;
        long last = UNKNOWN;
        for (int i = 0; i < chunks.count(); i++) {
            long id = chunks.frame(i) < 0 || !isMissing(i) ? UNKNOWN : frameId(i);
            if (id == UNKNOWN) {
                frame = null;
                last = UNKNOWN;
            } else if (id != last) {
                frame = loader.cached(FrameId.container(id), FrameId.number(id));
                last = id;
                frames += frame == null ? 0 : 1;
            }
            if (frame != null
                    && FrameLoader.holds(frame, chunks.chunkId(i), chunks.fingerprintPrefix(i), chunks.length(i))) {
                setData(i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
        return frames;
    }

    /** Sets the data of a chunk, from the frame that holds it. */
    void setData(int chunk, Frame frame) {
        int slot = ChunkId.slot(chunks.chunkId(chunk));
        chunks.setData(chunk, frame.data(), frame.offset(slot), frame.length(slot));
    }

    /** Sets the data of a chunk; closes {@code pinned} when this is closed. */
    public void setData(int chunk, Pinned pinned) {
        chunks.setData(chunk, pinned.data(), pinned.offset(), pinned.length());
        used.add(pinned);
    }

    /** Releases the bytes in use: the data of chunks must not be read any more. */
    @Override
    public void close() {
        used.forEach(Pinned::close);
        used.clear();
        chunks.clearData();
    }

    /** Whether the first piece is of a chunk whose first bytes are not wanted. */
    boolean isFirstCut() {
        return count > 0 && skips[0] > 0;
    }

    /** Copies the range; every chunk must have its data. */
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
