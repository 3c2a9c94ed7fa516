package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.cursors.LongCursor;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.cache.ContainerContents;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Surplus;
import org.opendedup.sar.restore.frame.Slabs;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * One batch of reading ahead: the chunks of a few MiB of a file that are fetched at once, and further chunks of the
 * same containers that the reader's window wants. Separate from {@link Lookahead}, because up to three batches of a
 * position are under way at once, and what a batch holds and is charged ends with it. Separate from {@link BatchRead},
 * because that only moves the bytes. For one thread.
 */
final class PrefetchBatch implements AutoCloseable {
    private static final long NO_CONTAINER = 0;

    /**
     * Surplus of every batch, in bytes. A chunk may be longer than what is wanted of it; it must not be dropped because
     * of that.
     */
    private static final int SURPLUS_BYTES = 2 * PinnedChunks.heldBytes(Slabs.MAX_BYTES);

    private final BatchSources sources;
    private final long inode;
    private final WantedChunks wanted;
    private final ChunkHolds promised;
    /** Chunks held in {@link #promised} for this batch. */
    private final LongHashSet further = new LongHashSet();
    /** Those of {@link #further} whose bytes this batch brings. */
    private final LongHashSet brought = new LongHashSet();

    private final Surplus surplus = new Surplus();
    private final long number;
    /** Number of the first reference. */
    private long first;

    private int references;
    private long charged;
    private long plannedTo;
    private boolean planned;
    /** The container that is to be read whole, or {@link #NO_CONTAINER}. */
    private long whole = NO_CONTAINER;

    /**
     * @param promised holds chunks that this batch brings for the cache
     * @param number number of earlier batches of the same reader
     * @param size size of the file, in bytes
     */
    PrefetchBatch(BatchSources sources, ChunkHolds promised, long inode, long number, long size) {
        this.sources = sources;
        this.promised = promised;
        this.inode = inode;
        this.number = number;
        wanted = sources.wanted(inode, size);
        surplus.allow(SURPLUS_BYTES);
    }

    /**
     * Adds the next reference. The caller holds its chunk until this batch has ended.
     *
     * @param charge additional bytes charged to the reader
     */
    void add(long chunkId, int fingerprintPrefix, int neededBytes, int charge) throws IOException {
        wanted.addChunk(chunkId, fingerprintPrefix, 0, neededBytes);
        sources.pinned().bring(chunkId);
        references++;
        charge(charge);
    }

    /** Adds a chunk that is brought for the cache. */
    void promise(long chunkId, int charge) {
        promised.hold(chunkId, charge);
        further.add(chunkId);
        charge(charge);
    }

    private void charge(int bytes) {
        charged += bytes;
        surplus.allow(bytes / 4);
    }

    /** Bytes charged for all chunks that this batch is to bring. */
    long charged() {
        return charged;
    }

    /** Requests that all of a container is read, for a cache that keeps whole containers. */
    void readWhole(long container) {
        whole = container;
    }

    /** Whether a reference to this container may be the next, in a batch for a cache that keeps whole containers. */
    boolean mayGoOnIn(long container, boolean isCached) {
        return whole == NO_CONTAINER ? isCached || references == 0 : container == whole;
    }

    long number() {
        return number;
    }

    int references() {
        return references;
    }

    /** The added references, each once, in order. */
    ChunkRequest chunks() {
        return wanted.chunks();
    }

    /** Number of the first reference, among all of the position. */
    long first() {
        return first;
    }

    void setFirst(long number) {
        first = number;
    }

    /** File offset below which everything is in this batch or in earlier ones. */
    long plannedTo() {
        return plannedTo;
    }

    void setPlannedTo(long offset) {
        plannedTo = offset;
    }

    /** Whether the batch's turn at the disk has begun. */
    boolean isPlanned() {
        return planned;
    }

    void setPlanned() {
        planned = true;
    }

    /** Returns the read of all chunks of the batch; to be closed. */
    BatchRead read() {
        return new BatchRead(sources, inode, wanted, isWhole(), surplus);
    }

    /**
     * Adds all frames of the container that is to be read whole. It is read even if all its wanted chunks are in memory
     * for another reader: the cache does not know that reader.
     */
    void addWholeContainer(BatchRead.Turn turn) throws IOException {
        surplus.allow(2 * sources.chunkBytesIn(whole));
        long[] frames = new long[sources.slotsIn(whole)];
        int count = 0;
        for (int slot = 0; slot < frames.length; slot++) {
            long chunkId = ChunkId.of(whole, slot);
            int frame = wanted.knownFrameOf(chunkId);
            if (frame >= 0) {
                promised.hold(chunkId, 0);
                further.add(chunkId);
                bring(chunkId);
                frames[count++] = FrameId.of(whole, frame);
            }
        }
        turn.addContainer(whole, SortedIds.of(frames, count));
    }

    /** Adds the frames of {@linkplain #promise promised} chunks that have not arrived meanwhile. */
    void addPromised(long[] chunks, BatchRead.Turn turn) throws IOException {
        long[] frames = new long[chunks.length];
        int count = 0;
        for (long chunkId : chunks) {
            int frame = sources.pinned().has(chunkId) ? -1 : wanted.knownFrameOf(chunkId);
            if (frame >= 0) {
                bring(chunkId);
                frames[count++] = FrameId.inContainerOf(chunkId, frame);
            }
        }
        turn.add(SortedIds.of(frames, count));
    }

    private void bring(long chunkId) {
        if (brought.add(chunkId)) {
            sources.pinned().bring(chunkId);
        }
    }

    /**
     * Returns the bytes that the chunks used, or would have used, for which {@link #charged} was charged. Charges the
     * window these bytes from now on.
     */
    long taken(ReaderWindow window) {
        long more = window.chargeArrived(wanted);
        for (LongCursor chunk : further) {
            more += promised.chargeArrived(chunk.value);
        }
        return charged + more + surplus.refusedBytes();
    }

    boolean isWhole() {
        return whole != NO_CONTAINER;
    }

    /** Reports to the cache what was read for it. */
    void reportTo(ContainerCache cache, Set<Long> containers) throws IOException {
        long[] chunks = chunksInMemory();
        int from = 0;
        for (long container : containers) {
            while (from < chunks.length && ChunkId.container(chunks[from]) < container) {
                from++;
            }
            int to = from;
            while (to < chunks.length && ChunkId.container(chunks[to]) == container) {
                to++;
            }
            cache.read(
                    container, new Contents(chunks, from, to, sources.chunksIn(container), sources.slotsIn(container)));
            from = to;
        }
    }

    /** Returns the ids of all chunks of this batch that are in memory, in ascending order. */
    private long[] chunksInMemory() {
        ChunkRequest chunks = wanted.chunks();
        long[] ids = new long[chunks.count() + further.size()];
        for (int i = 0; i < chunks.count(); i++) {
            ids[i] = chunks.chunkId(i);
        }
        int count = chunks.count();
        for (LongCursor chunk : further) {
            ids[count++] = chunk.value;
        }
        return Arrays.stream(SortedIds.of(ids, count))
                .filter(sources.pinned()::has)
                .toArray();
    }

    /**
     * Ends the waiting for this batch's chunks. A reader that waits for an unreadable chunk reads it again, and
     * receives the error.
     */
    @Override
    public void close() {
        PinnedChunks pinned = sources.pinned();
        for (int i = 0; i < references; i++) {
            pinned.brought(wanted.chunks().chunkId(i));
        }
        for (LongCursor chunk : brought) {
            pinned.brought(chunk.value);
        }
        for (LongCursor chunk : further) {
            promised.release(chunk.value);
        }
    }

    /** Chunks {@code from} to {@code to} (exclusive) of {@code chunks}: those of one container. */
    private final class Contents implements ContainerContents {
        private final long[] chunks;
        private final int from;
        private final int to;
        private final int chunksInContainer;
        private final int slotsInContainer;

        Contents(long[] chunks, int from, int to, int chunksInContainer, int slotsInContainer) {
            this.chunks = chunks;
            this.from = from;
            this.to = to;
            this.chunksInContainer = chunksInContainer;
            this.slotsInContainer = slotsInContainer;
        }

        @Override
        public int chunksInContainer() {
            return chunksInContainer;
        }

        @Override
        public int slotsInContainer() {
            return slotsInContainer;
        }

        @Override
        public int count() {
            return to - from;
        }

        @Override
        public int slot(int index) {
            return ChunkId.slot(chunks[from + index]);
        }

        @Override
        public int bytes(int index) {
            return PinnedChunks.heldBytes(Math.max(0, sources.pinned().bytes(chunks[from + index])));
        }
    }
}
