package org.opendedup.sar.restore.frame;

import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * Assigns the frames that a request reads from the disk to the chunks that want them, and counts these chunks. Safe for
 * use by many threads.
 */
final class HomeReads implements FrameSink {
    private static final int NONE = -1;

    private final WantedChunks wanted;
    /** By {@link FrameId}, the last chunk that misses the frame. */
    private final Map<Long, Integer> lastOfFrame = new HashMap<>();
    /** For each chunk, the previous chunk that misses the same frame, or {@link #NONE}. */
    private final int[] before;

    private final DataDistributor distributor;

    /**
     * Number of chunks that arrived, and their bytes. Guarded by this, as are the chunks of {@link #wanted} while
     * workers decode.
     */
    private int chunks;

    private long bytes;

    /** @param distributor receives the time of the disk reads and the bytes read */
    HomeReads(WantedChunks wanted, DataDistributor distributor) {
        this.wanted = wanted;
        this.distributor = distributor;
        before = new int[wanted.chunks().count()];
        for (int i = 0; i < before.length; i++) {
            if (wanted.isMissing(i) && wanted.chunks().frame(i) >= 0) {
                Integer other = lastOfFrame.put(wanted.frameId(i), i);
                before[i] = other == null ? NONE : other;
            }
        }
    }

    @Override
    public synchronized void onFrame(int number, Frame frame) {
        Integer last = lastOfFrame.get(FrameId.of(frame.container(), number));
        for (int i = last == null ? NONE : last; i != NONE; i = before[i]) {
            ChunkRequest wants = wanted.chunks();
            if (FrameLoader.holds(frame, wants.chunkId(i), wants.fingerprintPrefix(i), wants.length(i))) {
                wanted.setData(i, frame);
                chunks++;
                bytes += wants.length(i);
            }
        }
    }

    @Override
    public void onContainerRead(long nanos) {
        distributor.noteHomeRead(nanos);
    }

    /** Reports to the distributor the chunks and bytes that arrived. */
    synchronized void finish() {
        distributor.noteHome(chunks, bytes);
    }
}
