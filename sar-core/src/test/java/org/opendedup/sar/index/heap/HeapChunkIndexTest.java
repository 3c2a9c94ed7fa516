package org.opendedup.sar.index.heap;

import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;

class HeapChunkIndexTest extends ChunkIndexContract {
    @Override
    protected ChunkIndex open() {
        return new HeapChunkIndex();
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
