package org.opendedup.sar.index;

import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;

/** A chunk index that stores nothing, for a volume that runs without an index. */
public final class NoChunkIndex implements ChunkIndex {
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
        // An index that is created later reads the chunk from its container's directory.
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) {
        // An index that is created later reads the chunk from its container's directory.
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) {
        // Nothing is stored.
    }

    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor) {
        return null;
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) {
        // There is no entry.
    }

    @Override
    public void cover(long container, byte[] frameTable) {
        // An index that is created later covers the container.
    }

    @Override
    public void uncover(long container) {
        // No container is covered.
    }

    @Override
    public byte @Nullable [] frameTable(long container) {
        return null;
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) {
        // No fingerprint is kept.
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
        // No resource is held.
    }
}
