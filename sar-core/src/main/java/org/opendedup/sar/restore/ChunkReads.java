package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.TieredReads;
import org.opendedup.sar.restore.frame.WantedChunks;

/**
 * Reads whole chunks by their ids, for a client that knows its files itself: from frames in memory, the SSD, or home.
 * Safe for use by many threads.
 */
public final class ChunkReads {
    /** Replaces the inode in reports of damage: the file is not known. */
    private static final long NO_INODE = 0;

    private final FrameLoader loader;
    private final @Nullable TieredReads tier;

    /** @param tier reads with an SSD; null if there is none */
    ChunkReads(FrameLoader loader, @Nullable TieredReads tier) {
        this.loader = loader;
        this.tier = tier;
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
        if (tier != null) {
            try (WantedChunks wanted = new WantedChunks(NO_INODE, loader, true)) {
                wanted.addChunk(chunk, prefix, 0, length);
                tier.read(wanted, NO_INODE, false, ByteBuffer.wrap(bytes));
            }
        } else {
            Frame frame = loader.frame(NO_INODE, chunk);
            loader.check(NO_INODE, frame, chunk, prefix, length);
            copy(frame, chunk, bytes);
        }
        return bytes;
    }

    /**
     * Returns the bytes of a chunk if its fingerprint begins as this one does: what the caller was told may be wrong.
     *
     * @return null if there is another chunk, or none
     */
    public byte @Nullable [] readIf(long chunk, byte[] fingerprint) throws IOException {
        Frame frame = loader.frame(NO_INODE, chunk);
        int slot = ChunkId.slot(chunk);
        if (!frame.holds(slot) || frame.fingerprintPrefix(slot) != Fingerprints.fingerprintPrefix(fingerprint, 0)) {
            return null;
        }
        byte[] bytes = new byte[frame.length(slot)];
        copy(frame, chunk, bytes);
        return bytes;
    }

    private static void copy(Frame frame, long chunk, byte[] target) {
        System.arraycopy(frame.data(), frame.offset(ChunkId.slot(chunk)), target, 0, target.length);
    }
}
