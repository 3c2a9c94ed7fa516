package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.restore.frame.LongVisits;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * Where the chunks of all batches of all sequential readers come from, and where they are held. Safe for use by many
 * threads.
 *
 * @param hot the SSD with copies of chunks; null if there is none
 */
public record BatchSources(
        FrameLoader loader, PinnedChunks pinned, @Nullable HotSource hot) {
    /** Whether taken chunks are to be reported. */
    boolean reportsTaken() {
        return hot != null;
    }

    /** Reports to the promotion the chunks that a reader has taken: those that have data. */
    void reportTaken(ChunkRequest taken) {
        if (hot != null) {
            hot.promotion().onChunksRead(taken, hot.counts());
        }
    }

    /** Returns an empty list of chunks for a batch of a file of {@code size} bytes. */
    WantedChunks wanted(long inode, long size) {
        return new WantedChunks(inode, loader, loader.keepsFile(size));
    }

    /** Notes that a read of this thread waits for what is being read ahead. */
    void noteWait() {
        loader.latencies().waits(From.AHEAD);
    }

    /** Returns what makes the visits of one reader to the disk longer. */
    LongVisits visits() {
        return loader.visits();
    }

    /** Number of slots of a container, including those whose chunk is removed. */
    int slotsIn(long container) throws IOException {
        return loader.slotsIn(container);
    }

    int chunksIn(long container) throws IOException {
        return loader.chunksIn(container);
    }

    /** Bytes of all chunks in a container. */
    long chunkBytesIn(long container) throws IOException {
        return loader.chunkBytesIn(container);
    }
}
