package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.restore.frame.SplitReads;
import org.opendedup.sar.restore.frame.WantedChunks;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/**
 * Reads whole chunks by their ids, for a client that knows its files itself: from frames in memory, the SSD, or home.
 * Safe for use by many threads.
 */
public final class ChunkReads {
    /** Replaces the inode in reports of damage: the file is not known. */
    private static final long NO_INODE = 0;

    private final FrameLoader loader;
    private final @Nullable SplitReads hot;
    private final @Nullable HotSource parts;

    /**
     * @param hot reads with an SSD; null if there is none
     * @param parts what such reads use
     */
    ChunkReads(FrameLoader loader, @Nullable SplitReads hot, @Nullable HotSource parts) {
        this.loader = loader;
        this.hot = hot;
        this.parts = parts;
    }

    /**
     * Returns the bytes of a chunk that is known to have this fingerprint. If home has other bytes, that is damage, and
     * is reported.
     *
     * @param length bytes of the chunk
     */
    public byte[] read(long chunk, byte[] fingerprint, int length) throws IOException {
        byte[] bytes = new byte[length];
        int prefix = Fingerprints.fingerprintPrefix(fingerprint, 0);
        if (hot != null) {
            try (WantedChunks wanted = new WantedChunks(NO_INODE, loader, true)) {
                wanted.addChunk(chunk, prefix, 0, length);
                hot.read(wanted, NO_INODE, false, ByteBuffer.wrap(bytes));
            }
        } else {
            Frame frame = loader.frame(NO_INODE, chunk);
            loader.check(NO_INODE, frame, chunk, prefix, length);
            copy(frame, chunk, bytes);
        }
        return bytes;
    }

    /**
     * Returns the bytes of a chunk at home if its fingerprint begins as this one does: what the caller was told may be
     * wrong.
     *
     * @return null if there is another chunk, or none
     * @throws org.opendedup.sar.common.CorruptionException if there is that chunk, without its bytes
     */
    public byte @Nullable [] readIf(long chunk, byte[] fingerprint) throws IOException {
        int number = loader.frameOf(NO_INODE, chunk);
        boolean isInMemory = loader.cached(ChunkId.container(chunk), number) != null;
        Frame frame = loader.frame(NO_INODE, chunk);
        int slot = ChunkId.slot(chunk);
        int prefix = Fingerprints.fingerprintPrefix(fingerprint, 0);
        if (frame.fingerprintPrefix(slot) == prefix && frame.isLost(slot)) {
            // It is that chunk, without its bytes: an error, and not another chunk.
            loader.check(NO_INODE, frame, chunk, prefix, 1);
        }
        if (!frame.holds(slot) || frame.fingerprintPrefix(slot) != prefix) {
            return null;
        }
        byte[] bytes = new byte[frame.length(slot)];
        copy(frame, chunk, bytes);
        if (parts != null) {
            ChunkRequest read = new ChunkRequest();
            read.add(chunk, bytes.length, prefix, number);
            read.setSource(0, isInMemory ? Source.MEMORY : Source.HOME);
            read.setData(0, frame.data(), frame.offset(slot), bytes.length);
            parts.promotion().onChunksRead(read, parts.counts());
        }
        return bytes;
    }

    private static void copy(Frame frame, long chunk, byte[] target) {
        System.arraycopy(frame.data(), frame.offset(ChunkId.slot(chunk)), target, 0, target.length);
    }
}
