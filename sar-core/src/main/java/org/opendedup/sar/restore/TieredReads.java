package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.tier.ChunkRequest;
import org.opendedup.sar.tier.DataDistributor;
import org.opendedup.sar.tier.Source;

/**
 * Reads of a volume with an SSD (SAR paper §3.6).
 *
 * <ol>
 *   <li>chunks whose frames are in memory have their bytes
 *   <li>{@link DataDistributor#split}: SSD or home for the others
 *   <li>{@link DataDistributor#start}: the SSD is read while this thread reads the frames from home
 *   <li>what the SSD does not give, or not in time, is read from home as well
 *   <li>the promotion is told, with the bytes that came from the disk in hand
 * </ol>
 *
 * So whatever the SSD does, a read fails only if home does. Safe for use by many threads.
 */
final class TieredReads {
    /** In place of a frame's key: its container's frame table is not in memory, so it is not either. */
    private static final long UNKNOWN = 0;

    private final ReadTier tier;
    private final FrameLoader loader;

    TieredReads(ReadTier tier, FrameLoader loader) {
        this.tier = tier;
        this.loader = loader;
    }

    /** Whether there is an SSD to read from or to promote to; if not, plain reading is the same and cheaper. */
    boolean isActive() {
        return tier.distributor().isActive() || tier.promotion().isActive();
    }

    /** Copies what is wanted into {@code target}. */
    void read(WantedChunks wanted, long inode, ByteBuffer target) throws IOException {
        ChunkRequest chunks = wanted.chunks();
        loader.noteHits(takeFromMemory(wanted));
        tier.distributor().split(chunks, wanted::frameOf);
        DataDistributor.SsdRead ssd = tier.distributor().start(chunks);
        readHome(wanted, inode);
        if (!ssd.await()) {
            readHome(wanted, inode);
        }
        tier.promotion().read(chunks, tier.counts());
        wanted.copyTo(target);
    }

    /**
     * Brings frames into the cache ahead of a reader, but not those that the SSD will spare.
     *
     * @param maxFrames the most frames; those of the file's end are left out
     */
    void fetch(WantedChunks wanted, long inode, int maxFrames) throws IOException {
        ChunkRequest chunks = wanted.chunks();
        takeFromMemory(wanted);
        tier.distributor().split(chunks, wanted::frameOf);
        long[] frames = wanted.missingFrames();
        fetchHome(wanted, inode, frames.length > maxFrames ? Arrays.copyOf(frames, maxFrames) : frames);
        tier.promotion().read(chunks, tier.counts());
    }

    /** Gives the chunks in memory their bytes; returns in how many frames they are. */
    private int takeFromMemory(WantedChunks wanted) {
        ChunkRequest chunks = wanted.chunks();
        int frames = 0;
        Frame frame = null;
        long lastKey = UNKNOWN;
        for (int i = 0; i < chunks.count(); i++) {
            long key = chunks.frame(i) < 0 ? UNKNOWN : wanted.frameKey(i);
            if (key == UNKNOWN) {
                frame = null;
                lastKey = UNKNOWN;
            } else if (key != lastKey) {
                frame = loader.cached(ChunkId.container(key), ChunkId.slot(key));
                lastKey = key;
                frames += frame == null ? 0 : 1;
            }
            if (frame != null && FrameLoader.holds(frame, chunks.chunkId(i), chunks.check(i), chunks.length(i))) {
                setData(chunks, i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
        return frames;
    }

    private static void setData(ChunkRequest chunks, int i, Frame frame) {
        int slot = ChunkId.slot(chunks.chunkId(i));
        chunks.setData(i, frame.data(), frame.offset(slot), frame.length(slot));
    }

    /** Reads every chunk that is to come from home and has no data yet. */
    private void readHome(WantedChunks wanted, long inode) throws IOException {
        long[] frames = wanted.missingFrames();
        if (frames.length == 0) {
            return;
        }
        fetchHome(wanted, inode, frames);
        ChunkRequest chunks = wanted.chunks();
        for (int i = 0; i < chunks.count(); i++) {
            if (wanted.isMissing(i)) {
                // Another thread has read it or was reading it, or it can't be read: then this throws.
                Frame frame = loader.frame(inode, chunks.chunkId(i));
                loader.check(inode, frame, chunks.chunkId(i), chunks.check(i), chunks.length(i));
                setData(chunks, i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
    }

    private void fetchHome(WantedChunks wanted, long inode, long[] frames) throws IOException {
        HomeReads reads = new HomeReads(wanted);
        loader.fetch(inode, frames, reads);
        tier.distributor().noteHome(reads.chunks, reads.bytes);
    }

    /** Gives the frames that this request reads from the disk to the chunks that want them. */
    private final class HomeReads implements FrameLoader.Sink {
        private static final int NONE = -1;

        private final WantedChunks wanted;
        /** By frame, the last chunk that misses it. */
        private final Map<Long, Integer> lastOfFrame = new HashMap<>();
        /** The chunk before it that misses the same frame, or {@link #NONE}. */
        private final int[] before;

        /** Chunks that came, and their bytes. Guarded by this, as all chunks are, while workers decode. */
        private int chunks;

        private long bytes;

        HomeReads(WantedChunks wanted) {
            this.wanted = wanted;
            before = new int[wanted.chunks().count()];
            for (int i = 0; i < before.length; i++) {
                if (wanted.isMissing(i)) {
                    Integer other = lastOfFrame.put(wanted.frameKey(i), i);
                    before[i] = other == null ? NONE : other;
                }
            }
        }

        @Override
        public synchronized void read(int number, Frame frame) {
            Integer last = lastOfFrame.get(ChunkId.of(frame.container(), number));
            for (int i = last == null ? NONE : last; i != NONE; i = before[i]) {
                ChunkRequest wants = wanted.chunks();
                if (FrameLoader.holds(frame, wants.chunkId(i), wants.check(i), wants.length(i))) {
                    setData(wants, i, frame);
                    chunks++;
                    bytes += wants.length(i);
                }
            }
        }

        @Override
        public void readContainer(long nanos) {
            tier.distributor().noteHomeRead(nanos);
        }
    }
}
