package org.opendedup.sar.index;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;

/** Knows nothing and keeps nothing: what a volume does without an index. */
final class NoChunkIndex implements ChunkIndex {
    @Override
    public Exactness exactness() {
        return Exactness.NEAR_EXACT;
    }

    @Override
    public void lookup(Segment segment) {
        for (int i = 0; i < segment.count(); i++) {
            segment.setHint(i, ChunkId.NONE);
        }
    }

    @Override
    public void insert(Segment segment) {
        // It is found in its container's directory by the index that is made later.
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) {
        // As above.
    }

    @Override
    public void remove(byte[] fingerprints, int offset, long chunkId) {
        // It is not there.
    }

    @Override
    public void cover(long container, byte[] frameTable) {
        // The index that is made later covers it.
    }

    @Override
    public void uncover(long container) {
        // It is not covered.
    }

    @Override
    public byte @Nullable [] frameTable(long container) {
        return null;
    }

    @Override
    public void forEachCovered(LongConsumer visitor) {
        // None is.
    }

    @Override
    public @Nullable Epoch epoch() {
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

    @Override
    public void flush() {
        // There is nothing to write.
    }

    @Override
    public boolean keepsAnything() {
        return false;
    }

    @Override
    public long estimatedChunks() {
        return 0;
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
