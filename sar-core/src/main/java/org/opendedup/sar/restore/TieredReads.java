package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
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
        loader.noteHits(wanted.takeFromMemory());
        tier.distributor().split(chunks, wanted::frameOf);
        DataDistributor.SsdRead ssd = tier.distributor().start(chunks);
        readHome(wanted, inode);
        if (!ssd.await()) {
            readHome(wanted, inode);
        }
        tier.promotion().read(chunks, tier.counts());
        wanted.copyTo(target);
    }

    /** Reads every chunk that is to come from home and has no data yet. */
    private void readHome(WantedChunks wanted, long inode) throws IOException {
        fetchHome(wanted, inode, wanted.missingFrames());
        ChunkRequest chunks = wanted.chunks();
        for (int i = 0; i < chunks.count(); i++) {
            if (wanted.isMissing(i)) {
                // Another thread has read it or was reading it, or it can't be read: then this throws.
                Frame frame = loader.frame(inode, chunks.chunkId(i));
                loader.check(inode, frame, chunks.chunkId(i), chunks.check(i), chunks.length(i));
                wanted.setData(i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
    }

    private void fetchHome(WantedChunks wanted, long inode, long[] frames) throws IOException {
        if (frames.length == 0) {
            return;
        }
        HomeReads reads = new HomeReads(wanted, tier.distributor());
        loader.fetch(inode, () -> frames, reads);
        reads.finish();
    }
}
