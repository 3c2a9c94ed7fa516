package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.LongIntMap;
import org.opendedup.sar.restore.HeldChunks.Surplus;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.cache.ContainerContents;
import org.opendedup.sar.tier.ChunkRequest;

/**
 * What a reader in sequence has fetched at once: the chunks of a few MiB of its file, and others that its window wants of the same
 * containers. For one thread.
 */
final class Step implements AutoCloseable {
    private static final long NO_CONTAINER = 0;

    /** A chunk that comes may be longer than what is wanted of it; then that must not be in vain. */
    private static final int SURPLUS_BYTES = 2 * HeldChunks.heldBytes(Slabs.MAX_BYTES);

    private final StepReads reads;
    private final long inode;
    private final WantedChunks wanted;
    private final ChunkHolds promised;
    /** Chunks held in {@link #promised} for this; the values mean nothing. */
    private final LongIntMap further = new LongIntMap();
    /** Those of them whose bytes this brings; the values mean nothing. */
    private final LongIntMap brought = new LongIntMap();

    private final Surplus surplus = new Surplus();
    private final long number;
    private int references;
    private long charged;
    private long plannedTo;
    private boolean planned;
    /** The container that is to be read whole, or {@link #NO_CONTAINER}. */
    private long whole = NO_CONTAINER;

    /**
     * @param promised holds what this brings for the cache
     * @param number how many steps of the same reader began before
     * @param size of the file
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
         * Chunks from these containers, which rise; each once, and as many as there is room for. Asked when the step is next at the
         * disk, or does not need it.
         *
         * @throws IOException if the step is not wanted any more
         */
        long[] chunks(long[] containers) throws IOException;

        /**
         * The disk has come to the step, or is not needed.
         *
         * @throws IOException if the step is not wanted any more
         */
        void begins() throws IOException;
    }

    /**
     * Adds the next reference, whose chunk the caller holds until this has ended.
     *
     * @param charge what that adds to the memory of the reader
     */
    void add(long chunkId, int check, int neededBytes, int charge) throws IOException {
        wanted.addChunk(chunkId, check, 0, neededBytes);
        reads.held().bring(chunkId);
        references++;
        charge(charge);
    }

    /** Brings a chunk for the cache along. */
    void promise(long chunkId, int charge) {
        promised.hold(chunkId, charge);
        further.put(chunkId, 0);
        charge(charge);
    }

    private void charge(int bytes) {
        charged += bytes;
        surplus.allow(bytes / 4);
    }

    /** What was charged for all that this is to bring. */
    long charged() {
        return charged;
    }

    /** Has all of a container read, for a cache that takes it as a whole. */
    void readWhole(long container) {
        whole = container;
    }

    /** Whether a reference to this container may come next, in a step for a cache that takes whole ones. */
    boolean mayGoOnIn(long container, boolean isCached) {
        return whole == NO_CONTAINER ? isCached || references == 0 : container == whole;
    }

    long number() {
        return number;
    }

    int references() {
        return references;
    }

    /** The offset in the file before which everything is in this step, or in earlier ones. */
    long plannedTo() {
        return plannedTo;
    }

    void setPlannedTo(long offset) {
        plannedTo = offset;
    }

    /** Whether the disk has come to it. */
    boolean isPlanned() {
        return planned;
    }

    void setPlanned() {
        planned = true;
    }

    /**
     * Fetches all.
     *
     * @param window asked, and told, but for a container that is read whole
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
        // It is read although what is wanted of it may be in memory for somebody else, whom the cache does not know.
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
            int frame = reads.held().has(chunkId) ? -1 : wanted.knownFrameOf(chunkId);
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
            reads.held().bring(chunkId);
        }
    }

    /** What the chunks took, or would have taken, for which {@link #charged} was charged. The window is charged that from now on. */
    long taken(ReaderWindow window) {
        long[] more = {window.came(wanted)};
        further.forEachKey(chunkId -> more[0] += promised.came(chunkId));
        return charged + more[0] + surplus.refusedBytes();
    }

    boolean isWhole() {
        return whole != NO_CONTAINER;
    }

    /** Tells the cache what was read for it. */
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

    /** Ids of all chunks of this step that have their bytes, rising. */
    private long[] chunksInMemory() {
        ChunkRequest chunks = wanted.chunks();
        long[] ids = new long[chunks.count() + further.size()];
        for (int i = 0; i < chunks.count(); i++) {
            ids[i] = chunks.chunkId(i);
        }
        int[] count = {chunks.count()};
        further.forEachKey(chunkId -> ids[count[0]++] = chunkId);
        return Arrays.stream(SortedIds.of(ids, count[0]))
                .filter(reads.held()::has)
                .toArray();
    }

    /** Whoever waits for what could not be read is to see for himself why. */
    @Override
    public void close() {
        HeldChunks held = reads.held();
        for (int i = 0; i < references; i++) {
            held.brought(wanted.chunks().chunkId(i));
        }
        brought.forEachKey(held::brought);
        further.forEachKey(promised::release);
    }

    /** Chunks {@code from} to {@code to} of {@code chunks}: those of one container. */
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
            return HeldChunks.heldBytes(Math.max(0, reads.held().bytes(chunks[from + index])));
        }
    }
}
