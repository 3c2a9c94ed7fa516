package org.opendedup.sar.restore.frame;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.hot.distributor.SsdRead;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/**
 * Reads of a volume with an SSD (SAR paper §3.6).
 *
 * <ol>
 *   <li>Chunks whose frames are in memory get their bytes.
 *   <li>{@link DataDistributor#split}: chooses SSD or home for the others.
 *   <li>{@link DataDistributor#start}: the SSD is read while this thread reads the frames from home.
 *   <li>Chunks that the SSD does not deliver, or not in time, are read from home as well.
 *   <li>The promotion is notified of all chunks, while their bytes are in memory.
 * </ol>
 *
 * So a read fails only if home fails, whatever the SSD does. Safe for use by many threads.
 */
public final class SplitReads {
    private final HotSource hot;
    private final FrameLoader loader;

    public SplitReads(HotSource hot, FrameLoader loader) {
        this.hot = hot;
        this.loader = loader;
    }

    /**
     * Copies the wanted range into {@code target}.
     *
     * @param continues whether the first chunk, if only the rest of it is wanted, was already reported to the promotion
     */
    public void read(WantedChunks wanted, long inode, boolean continues, ByteBuffer target) throws IOException {
        ChunkRequest chunks = wanted.chunks();
        hot.distributor().noteWanted(chunks.count());
        try {
            loader.noteHits(wanted.takeFromMemory());
            hot.distributor().split(chunks, wanted::frameOf);
            if (wanted.areAnyOnSsd()) {
                loader.latencies().waits(From.SSD);
            }
            SsdRead ssd = hot.distributor().start(chunks);
            readHome(wanted, inode);
            if (!ssd.await()) {
                readHome(wanted, inode);
            }
        } finally {
            hot.distributor().noteEnd(chunks);
        }
        wanted.copyTo(target);
        // Of a chunk in memory that is wanted without its beginning, a request before this one has the beginning: a
        // scan in small requests is no second read.
        if (wanted.isFirstCut() && (continues || chunks.source(0) == Source.MEMORY)) {
            chunks.clearData(0);
        }
        hot.promotion().onChunksRead(chunks, hot.counts());
    }

    /** Reads every chunk that is to be read from home and has no data yet. */
    private void readHome(WantedChunks wanted, long inode) throws IOException {
        fetchHome(wanted, inode, wanted.missingFrames());
        ChunkRequest chunks = wanted.chunks();
        for (int i = 0; i < chunks.count(); i++) {
            if (wanted.isMissing(i)) {
                // Another thread has read the frame or was reading it; or it cannot be read, and then this throws.
                Frame frame = loader.frame(inode, chunks.chunkId(i));
                loader.check(inode, frame, chunks.chunkId(i), chunks.fingerprintPrefix(i), chunks.length(i));
                wanted.setData(i, frame);
                chunks.setSource(i, Source.MEMORY);
            }
        }
    }

    private void fetchHome(WantedChunks wanted, long inode, long[] frames) {
        if (frames.length == 0) {
            return;
        }
        HomeReads reads = new HomeReads(wanted, hot.distributor());
        loader.fetch(inode, frames, reads);
        reads.finish();
    }
}
