package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.LongIntMap;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.cache.ContainerContents;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Surplus;
import org.opendedup.sar.restore.frame.Slabs;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.tier.copies.ChunkRequest;

/**
 * One step of reading ahead: the chunks of a few MiB of a file that are fetched at once, and further chunks of the same
 * containers that the reader's window wants. For one thread.
 */
final class Step implements AutoCloseable {
    private static final long NO_CONTAINER = 0;

    /**
     * Surplus of every step, in bytes. A chunk may be longer than what is wanted of it; it must not be dropped because
     * of that.
     */
    private static final int SURPLUS_BYTES = 2 * PinnedChunks.heldBytes(Slabs.MAX_BYTES);

    private final StepReads reads;
    private final long inode;
    private final WantedChunks wanted;
    private final ChunkHolds promised;
    /** Chunks held in {@link #promised} for this step. A set: the values mean nothing. */
    private final LongIntMap further = new LongIntMap();
    /** Those of {@link #further} whose bytes this step brings. A set: the values mean nothing. */
    private final LongIntMap brought = new LongIntMap();

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
     * @param promised holds chunks that this step brings for the cache
     * @param number number of earlier steps of the same reader
     * @param size size of the file, in bytes
     */
    Step(StepReads reads, ChunkHolds promised, long inode, long number, long size) {
        this.reads = reads;
        this.promised = promised;
        this.inode = inode;
        this.number = number;
        wanted = reads.wanted(inode, size);
        surplus.allow(SURPLUS_BYTES);
    }

    /** Chunks that a window will want, the nearest first. */
    interface Window {
        /**
         * Returns chunks of these containers, each once, as many as there is room for. Called when the step is next at
         * the disk, or does not need the disk.
         *
         * @param containers ids, in ascending order
         * @throws IOException if the step is not wanted any more
         */
        long[] chunks(long[] containers) throws IOException;

        /**
         * Called when the step's turn at the disk begins, or when it does not need the disk.
         *
         * @throws IOException if the step is not wanted any more
         */
        void begins() throws IOException;
    }

    /**
     * Adds the next reference. The caller holds its chunk until this step has ended.
     *
     * @param charge additional bytes charged to the reader
     */
    void add(long chunkId, int check, int neededBytes, int charge) throws IOException {
        wanted.addChunk(chunkId, check, 0, neededBytes);
        reads.pinned().bring(chunkId);
        references++;
        charge(charge);
    }

    /** Adds a chunk that is brought for the cache. */
    void promise(long chunkId, int charge) {
        promised.hold(chunkId, charge);
        further.put(chunkId, 0);
        charge(charge);
    }

    private void charge(int bytes) {
        charged += bytes;
        surplus.allow(bytes / 4);
    }

    /** Bytes charged for all chunks that this step is to bring. */
    long charged() {
        return charged;
    }

    /** Requests that all of a container is read, for a cache that keeps whole containers. */
    void readWhole(long container) {
        whole = container;
    }

    /** Whether a reference to this container may be the next, in a step for a cache that keeps whole containers. */
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

    /** File offset below which everything is in this step or in earlier ones. */
    long plannedTo() {
        return plannedTo;
    }

    void setPlannedTo(long offset) {
        plannedTo = offset;
    }

    /** Whether the step's turn at the disk has begun. */
    boolean isPlanned() {
        return planned;
    }

    void setPlanned() {
        planned = true;
    }

    /**
     * Fetches all chunks of the step.
     *
     * @param window notified and asked for further chunks, unless a container is read whole
     */
    StepReads.Fetched fetch(Window window) throws IOException {
        if (whole != NO_CONTAINER) {
            return reads.fetch(inode, wanted, true, surplus, this::framesOfWholeContainer);
        }
        return reads.fetch(inode, wanted, false, surplus, new StepReads.Turn() {
            @Override
            public long[] further(Set<Long> containers) throws IOException {
                return furtherFrames(window, containers);
            }

            @Override
            public void begins() throws IOException {
                window.begins();
            }
        });
    }

    private long[] framesOfWholeContainer(Set<Long> containers) throws IOException {
        // The container is read even if all its wanted chunks are in memory for another reader: the cache does not know
        // that reader.
        containers.add(whole);
        surplus.allow(2 * reads.chunkBytesIn(whole));
        long[] frames = new long[reads.chunksIn(whole)];
        int count = 0;
        for (int slot = 0; slot < frames.length; slot++) {
            long chunkId = ChunkId.of(whole, slot);
            int frame = wanted.knownFrameOf(chunkId);
            if (frame >= 0) {
                promised.hold(chunkId, 0);
                further.put(chunkId, 0);
                bring(chunkId);
                frames[count++] = ChunkId.of(whole, frame);
            }
        }
        return SortedIds.of(frames, count);
    }

    private long[] furtherFrames(Window window, Set<Long> containers) throws IOException {
        long[] from = containers.stream().mapToLong(Long::longValue).toArray();
        long[] chunks = window.chunks(from);
        long[] frames = new long[chunks.length];
        int count = 0;
        for (long chunkId : chunks) {
            int frame = reads.pinned().has(chunkId) ? -1 : wanted.knownFrameOf(chunkId);
            if (frame >= 0) {
                bring(chunkId);
                frames[count++] = ChunkId.of(ChunkId.container(chunkId), frame);
            }
        }
        return SortedIds.of(frames, count);
    }

    private void bring(long chunkId) {
        if (!brought.contains(chunkId)) {
            brought.put(chunkId, 0);
            reads.pinned().bring(chunkId);
        }
    }

    /**
     * Returns the bytes that the chunks used, or would have used, for which {@link #charged} was charged. Charges the
     * window these bytes from now on.
     */
    long taken(ReaderWindow window) {
        long[] more = {window.came(wanted)};
        further.forEachKey(chunkId -> more[0] += promised.came(chunkId));
        return charged + more[0] + surplus.refusedBytes();
    }

    boolean isWhole() {
        return whole != NO_CONTAINER;
    }

    /** Reports to the cache what was read for it. */
    void tell(Set<Long> containers, ContainerCache cache) throws IOException {
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
            cache.read(container, new Contents(chunks, from, to, reads.chunksIn(container)));
            from = to;
        }
    }

    /** Returns the ids of all chunks of this step that are in memory, in ascending order. */
    private long[] chunksInMemory() {
        ChunkRequest chunks = wanted.chunks();
        long[] ids = new long[chunks.count() + further.size()];
        for (int i = 0; i < chunks.count(); i++) {
            ids[i] = chunks.chunkId(i);
        }
        int[] count = {chunks.count()};
        further.forEachKey(chunkId -> ids[count[0]++] = chunkId);
        return Arrays.stream(SortedIds.of(ids, count[0]))
                .filter(reads.pinned()::has)
                .toArray();
    }

    /**
     * Ends the waiting for this step's chunks. A reader that waits for an unreadable chunk reads it again, and receives
     * the error.
     */
    @Override
    public void close() {
        PinnedChunks pinned = reads.pinned();
        for (int i = 0; i < references; i++) {
            pinned.brought(wanted.chunks().chunkId(i));
        }
        brought.forEachKey(pinned::brought);
        further.forEachKey(promised::release);
    }

    /** Chunks {@code from} to {@code to} (exclusive) of {@code chunks}: those of one container. */
    private final class Contents implements ContainerContents {
        private final long[] chunks;
        private final int from;
        private final int to;
        private final int chunksInContainer;

        Contents(long[] chunks, int from, int to, int chunksInContainer) {
            this.chunks = chunks;
            this.from = from;
            this.to = to;
            this.chunksInContainer = chunksInContainer;
        }

        @Override
        public int chunksInContainer() {
            return chunksInContainer;
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
            return PinnedChunks.heldBytes(Math.max(0, reads.pinned().bytes(chunks[from + index])));
        }
    }
}
