package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.frame.PinnedChunks.Surplus;
import org.opendedup.sar.restore.frame.ReadTier;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.tier.copies.ChunkRequest;
import org.opendedup.sar.tier.copies.Source;
import org.opendedup.sar.tier.distributor.DataDistributor;

/**
 * Brings the chunks of one step of a sequential reader into memory: from frames in the cache, from the SSD, and from
 * the disk in disk order. ({@code TieredReads} serves requests that were not read ahead.) Every reader that
 * {@linkplain PinnedChunks holds} a chunk gets it. Safe for use by many threads.
 */
public final class StepReads {
    private final FrameLoader loader;
    private final PinnedChunks pinned;
    private final @Nullable ReadTier tier;

    /** @param tier the SSD with copies of chunks; null if there is none */
    public StepReads(FrameLoader loader, PinnedChunks pinned, @Nullable ReadTier tier) {
        this.loader = loader;
        this.pinned = pinned;
        this.tier = tier;
    }

    PinnedChunks pinned() {
        return pinned;
    }

    /** Whether taken chunks are to be reported. */
    boolean tells() {
        return tier != null;
    }

    /** Reports to the promotion the chunks that a reader has taken: those that have data. */
    void tell(ChunkRequest taken) {
        if (tier != null) {
            tier.promotion().read(taken, tier.counts());
        }
    }

    /** Returns an empty list of chunks for a step of a file of {@code size} bytes. */
    WantedChunks wanted(long inode, long size) {
        return new WantedChunks(inode, loader, loader.keepsFile(size));
    }

    /** Number of chunks in a container. */
    int chunksIn(long container) throws IOException {
        return loader.chunksIn(container);
    }

    /** Bytes of all chunks in a container. */
    long chunkBytesIn(long container) throws IOException {
        return loader.chunkBytesIn(container);
    }

    /** Notified of a step's turn at the disk. */
    @FunctionalInterface
    interface Turn {
        /**
         * Returns more frames to read of these containers, as {@code ChunkId.of(container, frame)}, in ascending order.
         * May add containers, and frames of them. Called when the step is next at the disk, or does not need the disk.
         */
        long[] further(Set<Long> containers) throws IOException;

        /**
         * Called when the step's turn at the disk begins, or when it does not need the disk.
         *
         * @throws IOException if the step is not wanted any more
         */
        default void begins() throws IOException {}
    }

    /**
     * What a step fetched.
     *
     * @param containers containers read from the disk, in ascending order
     * @param diskBytes bytes of the frames read, as stored in their files
     * @param ssdBytes bytes of wanted chunks from the SSD
     * @param memoryBytes bytes of wanted chunks that were in memory
     */
    record Fetched(Set<Long> containers, long diskBytes, long ssdBytes, long memoryBytes) {}

    /**
     * Reads the wanted chunks, which the caller holds, and closes the list. Leaves out chunks that cannot be read: a
     * reader that wants one reads it again, and receives the error.
     *
     * @param always whether to take a turn at the disk even if nothing is missing
     * @param surplus bytes that may be brought beyond those charged
     * @param turn asked for further frames when this is next at the disk, and notified when its turn begins
     */
    Fetched fetch(long inode, WantedChunks wanted, boolean always, Surplus surplus, Turn turn) throws IOException {
        try (wanted) {
            if (tier == null) {
                return fetchAll(inode, wanted, always, surplus, turn);
            }
            tier.distributor().noteWanted(wanted.chunks().count());
            try {
                return fetchAll(inode, wanted, always, surplus, turn);
            } finally {
                // An earlier step may have brought them since, and the reader may have left with them.
                takeHeld(wanted, Source.MEMORY);
                tier.distributor().noteEnd(wanted.chunks());
            }
        }
    }

    private Fetched fetchAll(long inode, WantedChunks wanted, boolean always, Surplus surplus, Turn turn)
            throws IOException {
        ChunkRequest chunks = wanted.chunks();
        takeHeld(wanted, Source.MEMORY);
        loader.noteHits(fillFromFrames(wanted, surplus));
        takeHeld(wanted, Source.MEMORY);
        DataDistributor.SsdRead ssd = startSsd(wanted);
        Set<Long> containers = new TreeSet<>();
        long diskBytes = fetchHome(inode, wanted, always, containers, surplus, turn);
        if (ssd != null && !ssd.await()) {
            diskBytes += fetchHome(inode, wanted, false, containers, surplus, late -> new long[0]);
        }
        giveToHolders(chunks, surplus);
        return new Fetched(containers, diskBytes, bytesFrom(Source.SSD, chunks), bytesFrom(Source.MEMORY, chunks));
    }

    private static long bytesFrom(Source source, ChunkRequest chunks) {
        long bytes = 0;
        for (int i = 0; i < chunks.count(); i++) {
            bytes += chunks.source(i) == source && chunks.data(i) != null ? chunks.length(i) : 0;
        }
        return bytes;
    }

    /**
     * Sets the data of missing chunks that are held and in memory, and marks them as from {@code source}; returns the
     * number of these chunks.
     */
    private int takeHeld(WantedChunks wanted, Source source) {
        ChunkRequest chunks = wanted.chunks();
        int taken = 0;
        for (int i = 0; i < chunks.count(); i++) {
            Pinned known = wanted.isMissing(i) ? pinned.use(chunks.chunkId(i)) : null;
            if (known != null && known.check() == chunks.check(i)) {
                wanted.setData(i, known);
                chunks.setSource(i, source);
                taken++;
            } else if (known != null) {
                known.close();
            }
        }
        return taken;
    }

    /**
     * Copies missing chunks whose frames are in memory to the readers that hold them; returns the number of these
     * frames. The step itself keeps no frame, so that the cache can evict it.
     */
    private int fillFromFrames(WantedChunks wanted, Surplus surplus) {
        int frames = 0;
        long lastKey = 0;
        for (int i = 0; i < wanted.chunks().count(); i++) {
            if (wanted.isMissing(i) && wanted.chunks().frame(i) >= 0 && wanted.frameKey(i) != lastKey) {
                lastKey = wanted.frameKey(i);
                frames += fillFromCache(lastKey, surplus) ? 1 : 0;
            }
        }
        return frames;
    }

    private DataDistributor.@Nullable SsdRead startSsd(WantedChunks wanted) {
        if (tier == null || !tier.distributor().isActive()) {
            return null;
        }
        tier.distributor().split(wanted.chunks(), wanted::frameOf);
        return tier.distributor().start(wanted.chunks());
    }

    /**
     * Reads missing chunks from the disk, and adds the containers read to {@code containers}. Returns the bytes of the
     * frames read, as stored in their files.
     */
    private long fetchHome(
            long inode, WantedChunks wanted, boolean always, Set<Long> containers, Surplus surplus, Turn turn)
            throws IOException {
        Filling filling = new Filling(wanted.keepsFrames(), surplus);
        if (always || wanted.missingFrames().length > 0) {
            loader.fetch(inode, new Reading(wanted, containers, surplus, turn), filling);
        } else {
            turn.further(containers);
            turn.begins();
        }
        long bytes = bytesFrom(Source.HOME, wanted.chunks());
        int chunks = takeHeld(wanted, Source.HOME);
        if (takeFromOthers(wanted, surplus)) {
            takeHeld(wanted, Source.MEMORY);
        }
        if (tier != null) {
            tier.distributor().noteHome(chunks, bytesFrom(Source.HOME, wanted.chunks()) - bytes);
        }
        return filling.fileBytes.sum();
    }

    /** Waits for frames that others were reading when this chose its frames. Returns whether there were any. */
    private boolean takeFromOthers(WantedChunks wanted, Surplus surplus) throws IOException {
        boolean come = false;
        for (long key : wanted.missingFrames()) {
            Frame frame = loader.fromOthers(key);
            if (frame != null) {
                pinned.fill(frame, surplus);
                come = true;
            }
        }
        return come;
    }

    /** Copies the chunks of frames to the readers that hold them; keeps no frame for one of its chunks. */
    private final class Filling implements FrameLoader.Sink {
        private final LongAdder fileBytes = new LongAdder();
        private final boolean keepsInCache;
        private final Surplus surplus;

        Filling(boolean keepsInCache, Surplus surplus) {
            this.keepsInCache = keepsInCache;
            this.surplus = surplus;
        }

        @Override
        public boolean wants(FrameTable table, long container, int frame) {
            // The last frames of a container that is being written are in memory only.
            return frame >= table.frames() || pinned.lacks(container, table.firstSlot(frame), table.slotCount(frame));
        }

        @Override
        public void read(int number, Frame frame) {
            pinned.fill(frame, surplus);
        }

        @Override
        public ByteGauge memory() {
            return pinned.memory();
        }

        @Override
        public boolean keepsInCache() {
            return keepsInCache;
        }

        @Override
        public void readContainer(long nanos) {
            if (tier != null) {
                tier.distributor().noteHomeRead(nanos);
            }
        }

        @Override
        public void readBytes(long bytes) {
            fileBytes.add(bytes);
        }
    }

    /**
     * The frames that a step reads from the disk. Chosen when the step is next at the disk: some have arrived by then,
     * or will arrive, with earlier reads.
     */
    private final class Reading implements FrameLoader.Wanted {
        private final WantedChunks wanted;
        private final Set<Long> containers;
        private final Surplus surplus;
        private final Turn turn;

        Reading(WantedChunks wanted, Set<Long> containers, Surplus surplus, Turn turn) {
            this.wanted = wanted;
            this.containers = containers;
            this.surplus = surplus;
            this.turn = turn;
        }

        @Override
        public long[] frames() throws IOException {
            takeHeld(wanted, Source.MEMORY);
            long[] missing = notComing(wanted.missingFrames(), surplus);
            for (long frame : missing) {
                containers.add(ChunkId.container(frame));
            }
            return SortedIds.union(missing, notComing(turn.further(containers), surplus));
        }

        @Override
        public void begins() throws IOException {
            turn.begins();
        }
    }

    private long[] notComing(long[] frames, Surplus surplus) {
        return Arrays.stream(frames)
                .filter(key -> !fillFromCache(key, surplus) && !loader.isBeingRead(key))
                .toArray();
    }

    private boolean fillFromCache(long key, Surplus surplus) {
        Frame cached = loader.cached(ChunkId.container(key), ChunkId.slot(key));
        if (cached != null) {
            pinned.fill(cached, surplus);
        }
        return cached != null;
    }

    /** Copies chunks that came from the SSD, or were in memory, to all readers that hold them. */
    private void giveToHolders(ChunkRequest chunks, Surplus surplus) {
        for (int i = 0; i < chunks.count(); i++) {
            byte[] data = chunks.data(i);
            if (data != null) {
                pinned.fill(chunks.chunkId(i), data, chunks.offset(i), chunks.length(i), chunks.check(i), surplus);
            }
        }
    }
}
