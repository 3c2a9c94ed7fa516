package org.opendedup.sar.index.heap;

import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;
import org.opendedup.sar.volume.store.ChunkIndexes;

class HeapChunkIndexTest extends ChunkIndexContract {
    @Override
    protected ChunkIndex open() {
        return ChunkIndexes.heap();
    }

    @Override
    protected ChunkIndex reopen() {
        return index;
    }

    @Override
    protected boolean isPersistent() {
        return false;
    }
}
