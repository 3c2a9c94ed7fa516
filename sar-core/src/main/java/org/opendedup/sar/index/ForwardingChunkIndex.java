package org.opendedup.sar.index;

import java.io.IOException;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;

/** Passes each call on to another index. A subclass changes some of them. */
public abstract class ForwardingChunkIndex implements ChunkIndex {
    private volatile ChunkIndex index;

    protected ForwardingChunkIndex(ChunkIndex index) {
        this.index = index;
    }

    /** Returns the other index. */
    protected final ChunkIndex index() {
        return index;
    }

    /** Passes calls on to another index from now on. */
    protected final void replace(ChunkIndex successor) {
        index = successor;
    }

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
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        return index.forEachAfter(position, count, visitor);
    }

    @Override
    public boolean forEachFrom(byte[] fingerprint, int count, EntryVisitor visitor) throws IOException {
        return index.forEachFrom(fingerprint, count, visitor);
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        index.sample(random, visitor);
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
    public byte @Nullable [] frameTable(long container) throws IOException {
        return index.frameTable(container);
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        index.forEachOf(container, visitor);
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return index.epoch();
    }

    @Override
    public void stamp(Epoch epoch) throws IOException {
        index.stamp(epoch);
    }

    @Override
    public long highestContainer() throws IOException {
        return index.highestContainer();
    }

    @Override
    public void clear() throws IOException {
        index.clear();
    }

    @Override
    public void flush() throws IOException {
        index.flush();
    }

    @Override
    public boolean keepsAnything() {
        return index.keepsAnything();
    }

    @Override
    public long estimatedChunks() {
        return index.estimatedChunks();
    }

    @Override
    public IndexUse use() {
        return index.use();
    }

    @Override
    public void close() throws IOException {
        index.close();
    }
}
