package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.container.FrameTable;
import org.opendedup.sar.restore.HeldChunks.Held;
import org.opendedup.sar.restore.HeldChunks.Surplus;
import org.opendedup.sar.tier.ChunkRequest;
import org.opendedup.sar.tier.DataDistributor;
import org.opendedup.sar.tier.Source;

/**
 * Brings the chunks of one step of a reader in sequence into memory: from frames in the cache, from the SSD, and from the disk in its
 * own order. What comes goes to all who {@linkplain HeldChunks hold} it. Safe for use by many threads.
 */
final class StepReads {
    private final FrameLoader loader;
    private final HeldChunks held;
    private final @Nullable ReadTier tier;

    /** @param tier the SSD with copies of chunks; null: there is none */
    StepReads(FrameLoader loader, HeldChunks held, @Nullable ReadTier tier) {
        this.loader = loader;
        this.held = held;
        this.tier = tier;
    }

    HeldChunks held() {
        return held;
    }

    /** An empty list of what a step wants of a file of {@code size} bytes. */
    WantedChunks wanted(long inode, long size) {
        return new WantedChunks(inode, loader, loader.keepsFile(size));
    }

    /** Chunks that a container has. */
    int chunksIn(long container) throws IOException {
        return loader.chunksIn(container);
    }

    /** Bytes of all chunks that a container has. */
    long chunkBytesIn(long container) throws IOException {
        return loader.chunkBytesIn(container);
    }

    /** Told of the disk's coming to a step. */
    @FunctionalInterface
    interface Turn {
        /**
         * More frames to read of these containers, as {@code ChunkId.of(container, frame)}, rising; may add containers, and frames of
         * them. Asked when the step is next at the disk, or does not need it.
         */
        long[] further(Set<Long> containers) throws IOException;

        /**
         * The disk has come to the step, or is not needed.
         *
         * @throws IOException if the step is not wanted any more
         */
        default void begins() throws IOException {}
    }

    /**
     * What was fetched.
     *
     * @param containers read from the disk, in its order
     * @param diskBytes of the frames read, as they are in their files
     * @param ssdBytes of wanted chunks
     * @param memoryBytes of wanted chunks
     */
    record Fetched(Set<Long> containers, long diskBytes, long ssdBytes, long memoryBytes) {}

    /**
     * Reads what is wanted, each chunk of which is held by the caller, and closes the list. What cannot be read is left out: whoever
     * wants it will be told.
     *
     * @param always whether the disk is wanted also if nothing is missing
     * @param surplus what may be brought beyond what is charged for it
     * @param turn asked when this is next at the disk, and told when the disk has come
     */
    Fetched fetch(long inode, WantedChunks wanted, boolean always, Surplus surplus, Turn turn) throws IOException {
        try (wanted) {
            return fetchAll(inode, wanted, always, surplus, turn);
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
        if (tier != null) {
            tier.promotion().read(chunks, tier.counts());
        }
        return new Fetched(containers, diskBytes, bytesFrom(Source.SSD, chunks), bytesFrom(Source.MEMORY, chunks));
    }

    private static long bytesFrom(Source source, ChunkRequest chunks) {
        long bytes = 0;
        for (int i = 0; i < chunks.count(); i++) {
            bytes += chunks.source(i) == source && chunks.data(i) != null ? chunks.length(i) : 0;
        }
        return bytes;
    }

    /** Gives the chunks that are missing and held the bytes that are held, from {@code source}; returns how many those are. */
    private int takeHeld(WantedChunks wanted, Source source) {
        ChunkRequest chunks = wanted.chunks();
        int taken = 0;
        for (int i = 0; i < chunks.count(); i++) {
            Held known = wanted.isMissing(i) ? held.use(chunks.chunkId(i)) : null;
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
     * Gives the chunks that are missing, and whose frames are in memory, to all who hold them; returns in how many frames they are. The
     * step itself keeps no frame: the cache is to be able to give it up.
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

    /** Adds to {@code containers} those it reads. Returns the bytes of the frames read, as they are in their files. */
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

    /** Waits for frames that others were reading when it was decided what this reads. Returns whether there were any. */
    private boolean takeFromOthers(WantedChunks wanted, Surplus surplus) throws IOException {
        boolean come = false;
        for (long key : wanted.missingFrames()) {
            Frame frame = loader.fromOthers(key);
            if (frame != null) {
                held.fill(frame, surplus);
                come = true;
            }
        }
        return come;
    }

    /** Gives frames to those who hold their chunks; no request keeps a frame for one of its chunks. */
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
            // Of a container that is being written, the last frames are in memory only.
            return frame >= table.frames() || held.lacks(container, table.firstSlot(frame), table.slotCount(frame));
        }

        @Override
        public void read(int number, Frame frame) {
            held.fill(frame, surplus);
        }

        @Override
        public ByteGauge memory() {
            return held.memory();
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

    /** What a step reads from the disk, decided when it is next there: some has come, or will, with what was read before. */
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
            held.fill(cached, surplus);
        }
        return cached != null;
    }

    /** Gives what came from the SSD, or was in memory, to all who hold it. */
    private void giveToHolders(ChunkRequest chunks, Surplus surplus) {
        for (int i = 0; i < chunks.count(); i++) {
            byte[] data = chunks.data(i);
            if (data != null) {
                held.fill(chunks.chunkId(i), data, chunks.offset(i), chunks.length(i), chunks.check(i), surplus);
            }
        }
    }
}
