package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.hot.distributor.SsdRead;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.FrameSink;
import org.opendedup.sar.restore.frame.FrameTurn;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.restore.frame.LongVisits;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.frame.PinnedChunks.Surplus;
import org.opendedup.sar.restore.frame.SortedIds;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/**
 * Brings the wanted chunks of one batch into memory: from frames in the cache, from the SSD, and from the disk in disk
 * order. Every reader that {@linkplain PinnedChunks holds} a chunk gets it. Leaves out chunks that cannot be read: a
 * reader that wants one reads it again, and receives the error. {@code SplitReads} performs the same sequence for
 * requests that were not read ahead; it keeps frames until it has copied from them, throws such errors, and chooses
 * nothing while it is next at the disk.
 *
 * <pre>{@code
 * try (BatchRead read = ...) {
 *     read.start();
 *     try (BatchRead.Turn turn = read.next()) {
 *         long[] containers = turn.chooseMissing();
 *         turn.add(...);
 *         turn.claim();
 *         turn.begin();
 *         turn.read();
 *     }
 *     return read.finish();
 * }
 * }</pre>
 *
 * Separate from {@link PrefetchBatch} because it only moves bytes and has no position, window or charge. For one
 * thread.
 */
final class BatchRead implements AutoCloseable {
    private static final long[] NO_FRAMES = {};

    private final FrameLoader loader;
    private final PinnedChunks pinned;
    private final @Nullable HotSource hot;
    private final long inode;
    private final WantedChunks wanted;
    private final boolean needsTurn;
    private final Surplus surplus;
    private final Filling filling = new Filling();
    /** Containers read from the disk. */
    private final Set<Long> containers = new TreeSet<>();

    private @Nullable SsdRead ssd;
    /** What {@link WantedChunks#missingFrames} returned; null if that may have changed since. */
    private long @Nullable [] missing;

    /**
     * What a batch fetched.
     *
     * @param containers containers read from the disk, in ascending order
     * @param diskBytes bytes of the frames read, as stored in their files
     * @param ssdBytes bytes of wanted chunks from the SSD
     * @param memoryBytes bytes of wanted chunks that were in memory
     */
    record Fetched(Set<Long> containers, long diskBytes, long ssdBytes, long memoryBytes) {}

    /**
     * @param wanted chunks that the caller holds; this closes the list
     * @param needsTurn whether to take a turn at the disk even if nothing is missing
     * @param surplus bytes that may be brought beyond those charged
     */
    BatchRead(BatchSources sources, long inode, WantedChunks wanted, boolean needsTurn, Surplus surplus) {
        loader = sources.loader();
        pinned = sources.pinned();
        hot = sources.hot();
        this.inode = inode;
        this.wanted = wanted;
        this.needsTurn = needsTurn;
        this.surplus = surplus;
        if (hot != null) {
            hot.distributor().noteWanted(wanted.chunks().count());
        }
    }

    /** Takes what is in memory, and starts to read what is to come from the SSD. */
    void start() {
        takeHeld(Source.MEMORY);
        loader.noteHits(fillFromFrames());
        takeHeld(Source.MEMORY);
        if (hot != null && hot.distributor().isActive()) {
            hot.distributor().split(wanted.chunks(), wanted::frameOf);
            ssd = hot.distributor().start(wanted.chunks());
            missing = null;
        }
    }

    /** Waits until the batch is next at the disk, if it needs the disk. */
    Turn next() {
        return next(needsTurn);
    }

    private Turn next(boolean always) {
        return new Turn(always || missingFrames().length > 0 ? loader.next(Importance.STEP, inode, filling) : null);
    }

    /** The batch's turn at the disk. Nothing is read if the batch does not need the disk. */
    final class Turn implements AutoCloseable {
        private final @Nullable FrameTurn disk;
        private long[] frames = NO_FRAMES;

        private Turn(@Nullable FrameTurn disk) {
            this.disk = disk;
        }

        /**
         * Chooses the missing frames; some have arrived while this waited for the disk, or will arrive, with earlier
         * reads.
         *
         * @return the containers to be read from, in ascending order
         */
        long[] chooseMissing() {
            if (disk != null) {
                takeHeld(Source.MEMORY);
                frames = notComing(missingFrames());
                for (long frame : frames) {
                    containers.add(FrameId.container(frame));
                }
            }
            return containers.stream().mapToLong(Long::longValue).toArray();
        }

        /** Adds frames of a container that counts as read even if none of its frames has to be read. */
        void addContainer(long container, long[] more) {
            containers.add(container);
            add(more);
        }

        /** Adds frames, as {@link FrameId}s, in ascending order. */
        void add(long[] more) {
            frames = SortedIds.union(frames, notComing(more));
        }

        /** Claims what was chosen and added: see {@link FrameTurn#claim}. */
        void claim() {
            if (disk != null) {
                disk.claim(frames);
            }
        }

        /** See {@link FrameTurn#lengthen}. */
        void lengthen(LongVisits visits, Supplier<LongLongHashMap> later) {
            if (disk != null) {
                disk.lengthen(visits, later);
            }
        }

        /** Waits until the turn begins, if there are frames to read. */
        void begin() {
            if (disk != null) {
                disk.begin();
            }
        }

        void read() {
            if (disk != null) {
                disk.read();
            }
        }

        @Override
        public void close() {
            if (disk != null) {
                disk.close();
            }
        }
    }

    /** Takes what was read, waits for the SSD, and reads from the disk what the SSD did not deliver. */
    Fetched finish() throws IOException {
        takeArrived();
        if (ssd != null && !ssd.await()) {
            missing = null;
            try (Turn turn = next(false)) {
                turn.chooseMissing();
                turn.claim();
                turn.begin();
                turn.read();
            }
            takeArrived();
        }
        giveToHolders();
        return new Fetched(containers, filling.fileBytes.sum(), bytesFrom(Source.SSD), bytesFrom(Source.MEMORY));
    }

    private long[] missingFrames() {
        if (missing == null) {
            missing = wanted.missingFrames();
        }
        return missing;
    }

    private long bytesFrom(Source source) {
        ChunkRequest chunks = wanted.chunks();
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
    private int takeHeld(Source source) {
        ChunkRequest chunks = wanted.chunks();
        int taken = 0;
        for (int i = 0; i < chunks.count(); i++) {
            Pinned known = wanted.isMissing(i) ? pinned.use(chunks.chunkId(i)) : null;
            if (known != null && known.fingerprintPrefix() == chunks.fingerprintPrefix(i)) {
                wanted.setData(i, known);
                chunks.setSource(i, source);
                taken++;
                missing = null;
            } else if (known != null) {
                known.close();
            }
        }
        return taken;
    }

    /**
     * Copies missing chunks whose frames are in memory to the readers that hold them; returns the number of these
     * frames. The batch itself keeps no frame, so that the cache can evict it.
     */
    private int fillFromFrames() {
        int frames = 0;
        long last = 0;
        for (int i = 0; i < wanted.chunks().count(); i++) {
            if (wanted.isMissing(i) && wanted.chunks().frame(i) >= 0 && wanted.frameId(i) != last) {
                last = wanted.frameId(i);
                frames += fillFromCache(last) ? 1 : 0;
            }
        }
        return frames;
    }

    /** Takes the chunks that came from the disk, by this batch or by others. */
    private void takeArrived() throws IOException {
        long bytes = bytesFrom(Source.HOME);
        int chunks = takeHeld(Source.HOME);
        if (takeFromOthers()) {
            takeHeld(Source.MEMORY);
        }
        if (hot != null) {
            hot.distributor().noteHome(chunks, bytesFrom(Source.HOME) - bytes);
        }
    }

    /**
     * Waits for frames that others were reading when this chose its frames. Returns whether there were any. Those that
     * do not keep them have given their chunks to all who hold them.
     */
    private boolean takeFromOthers() throws IOException {
        long[] theirs = missingFrames();
        for (long id : theirs) {
            Frame frame = loader.fromOthers(id);
            if (frame != null) {
                pinned.fill(frame, surplus);
            }
        }
        return theirs.length > 0;
    }

    /** Copies the chunks of frames to the readers that hold them; keeps no frame for one of its chunks. */
    private final class Filling implements FrameSink {
        private final LongAdder fileBytes = new LongAdder();

        @Override
        public boolean wants(FrameTable table, long container, int frame) {
            return !table.contains(frame) || pinned.lacks(container, table.firstSlot(frame), table.slotCount(frame));
        }

        @Override
        public void onFrame(int number, Frame frame) {
            pinned.fill(frame, surplus);
        }

        @Override
        public ByteGauge memory() {
            return pinned.memory();
        }

        @Override
        public boolean keepsFrames() {
            return wanted.keepsFrames();
        }

        @Override
        public void onContainerRead(long nanos) {
            if (hot != null) {
                hot.distributor().noteHomeRead(nanos);
            }
        }

        @Override
        public void onBytesRead(long bytes) {
            fileBytes.add(bytes);
        }
    }

    private long[] notComing(long[] frames) {
        return Arrays.stream(frames)
                .filter(id -> !fillFromCache(id) && !loader.isBeingRead(id))
                .toArray();
    }

    private boolean fillFromCache(long id) {
        Frame cached = loader.cached(FrameId.container(id), FrameId.number(id));
        if (cached != null) {
            pinned.fill(cached, surplus);
        }
        return cached != null;
    }

    /** Copies chunks that came from the SSD, or were in memory, to all readers that hold them. */
    private void giveToHolders() {
        ChunkRequest chunks = wanted.chunks();
        for (int i = 0; i < chunks.count(); i++) {
            byte[] data = chunks.data(i);
            if (data != null) {
                pinned.fill(
                        chunks.chunkId(i),
                        data,
                        chunks.offset(i),
                        chunks.length(i),
                        chunks.fingerprintPrefix(i),
                        surplus);
            }
        }
    }

    /** Closes the list of wanted chunks: their data must not be read any more. */
    @Override
    public void close() {
        try (wanted) {
            if (hot != null) {
                // An earlier batch may have brought them since, and the reader may have left with them.
                takeHeld(Source.MEMORY);
                hot.distributor().noteEnd(wanted.chunks());
            }
        }
    }
}
