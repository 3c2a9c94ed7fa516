package org.opendedup.sar.restore.frame;

import java.io.IOException;
import org.opendedup.sar.common.ChunkId;

/** Notified of stored bytes that could not be read, or differ from what was written. */
@FunctionalInterface
public interface DamageListener {
    /** A frame cannot be read; -1 if its number is not known. */
    void damaged(long inode, long container, int frame, IOException cause);

    /** As above, if it is known which chunk was wanted: its frame may be whole, and only lack this one. */
    default void damagedChunk(long inode, long chunk, int frame, IOException cause) {
        damaged(inode, ChunkId.container(chunk), frame, cause);
    }
}
