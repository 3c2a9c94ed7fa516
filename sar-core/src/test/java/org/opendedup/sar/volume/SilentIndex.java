package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.BitSet;
import java.util.function.LongConsumer;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;

/** An index that never reports an earlier epoch, and is not cleared: an index without epochs. */
record SilentIndex(ChunkIndex index) implements ChunkIndex {
    @Override
    public Exactness exactness() {
        return index.exactness();
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        index.lookup(segment);
    }

    @Override
    public void insert(Segment segment) throws IOException {
        index.insert(segment);
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        index.insert(fingerprints, offset, chunkId);
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        index.remove(container, fingerprints, slots);
    }

    @Override
    public void forEachFrom(byte[] from, int count, EntryVisitor visitor) throws IOException {
        index.forEachFrom(from, count, visitor);
    }

    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        index.cover(container, frameTable);
    }

    @Override
    public void uncover(long container) throws IOException {
        index.uncover(container);
    }

    @Override
    public byte[] frameTable(long container) throws IOException {
        return index.frameTable(container);
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        index.forEachOf(container, visitor);
    }

    @Override
    public void forEachCovered(LongConsumer visitor) throws IOException {
        index.forEachCovered(visitor);
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

    @Override
    public void flush() throws IOException {
        index.flush();
    }

    @Override
    public long estimatedChunks() {
        return index.estimatedChunks();
    }

    @Override
    public void close() throws IOException {
        index.close();
    }
}
