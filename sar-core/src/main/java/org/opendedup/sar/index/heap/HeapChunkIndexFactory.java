package org.opendedup.sar.index.heap;

import org.opendedup.sar.index.ChunkIndex;

/** Makes chunk indexes on the heap. */
public final class HeapChunkIndexFactory {
    private HeapChunkIndexFactory() {}

    public static ChunkIndex create() {
        return new HeapChunkIndex();
    }
}
