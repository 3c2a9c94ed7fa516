package org.opendedup.sar.volume;

import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ForwardingChunkIndex;

/** An index that never reports an earlier epoch, and is not cleared: an index without epochs. */
final class SilentIndex extends ForwardingChunkIndex {
    SilentIndex(ChunkIndex index) {
        super(index);
    }

    @Override
    public Epoch epoch() {
        return null;
    }

    @Override
    public void stamp(Epoch epoch) {}

    @Override
    public long highestContainer() {
        return 0;
    }

    @Override
    public void clear() {}
}
