package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
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
        tier.distributor().split(chunks);
        DataDistributor.SsdRead ssd = tier.distributor().start(chunks);
        readHome(wanted, inode);
        if (!ssd.await()) {
            readHome(wanted, inode);
        }
        tier.promotion().read(chunks, tier.counts());
        wanted.copyTo(target);
    }

    /** Brings frames into the cache ahead of a reader, but not those that the SSD will spare. */
    void fetch(WantedChunks wanted, long inode) throws IOException {
        ChunkRequest chunks = wanted.chunks();
        takeFromMemory(wanted);
        tier.distributor().split(chunks);
        loader.fetch(inode, wanted.missingFrames(), new HomeReads(wanted));
        tier.promotion().read(chunks, tier.counts());
    }

    /** Gives the chunks in memory their bytes; returns in how many frames they are. */
    private int takeFromMemory(WantedChunks wanted) {
        ChunkRequest chunks = wanted.chunks();
        int frames = 0;
        Frame frame = null;
        long lastKey = 0;
        for (int i = 0; i < chunks.count(); i++) {
            long key = wanted.frameKey(i);
            if (key != lastKey) {
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
        loader.fetch(inode, frames, new HomeReads(wanted));
        ChunkRequest chunks = wanted.chunks();
        for (int i = 0; i < chunks.count(); i++) {
            if (wanted.isMissing(i)) {
                // Another thread was reading it, or it can't be read: then this throws.
                Frame frame = loader.frame(inode, chunks.chunkId(i));
                loader.check(inode, frame, chunks.chunkId(i), chunks.check(i), chunks.length(i));
                setData(chunks, i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
    }

    /** Gives the frames that this request reads from the disk to the chunks that want them. */
    private final class HomeReads implements FrameLoader.Sink {
        private final WantedChunks wanted;
        private int containerChunks;
        private long containerBytes;

        HomeReads(WantedChunks wanted) {
            this.wanted = wanted;
        }

        @Override
        public void read(int number, Frame frame) {
            ChunkRequest chunks = wanted.chunks();
            long key = ChunkId.of(frame.container(), number);
            for (int i = 0; i < chunks.count(); i++) {
                boolean good = wanted.frameKey(i) == key
                        && wanted.isMissing(i)
                        && FrameLoader.holds(frame, chunks.chunkId(i), chunks.check(i), chunks.length(i));
                if (good) {
                    setData(chunks, i, frame);
                    containerChunks++;
                    containerBytes += chunks.length(i);
                }
            }
        }

        @Override
        public void readContainer(long container, long nanos) {
            tier.distributor().noteHome(containerChunks, containerBytes, nanos);
            containerChunks = 0;
            containerBytes = 0;
        }
    }
}
