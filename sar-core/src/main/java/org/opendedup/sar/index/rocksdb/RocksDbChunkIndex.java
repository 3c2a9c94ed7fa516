package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;

/** The exact chunk index. */
final class RocksDbChunkIndex extends Records implements ChunkIndex {
    RocksDbChunkIndex(IndexDatabase database, long cacheBytes) {
        super(database, cacheBytes);
    }

    @Override
    public Exactness exactness() {
        return Exactness.EXACT;
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        lookup(segment, false);
    }

    @Override
    public void insert(Segment segment) throws IOException {
        writer.insert(segment);
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        writer.insert(fingerprints, offset, chunkId);
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        removed(container, fingerprints, slots);
    }

    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        byte[] from = position == null ? new byte[Fingerprints.BYTES] : position;
        byte[][] last = new byte[1][];
        int[] visited = new int[1];
        database.forEachFingerprint(IndexKeys.fingerprint(from, 0), count, (fingerprint, chunk) -> {
            last[0] = fingerprint.clone();
            visited[0]++;
            visitor.visit(fingerprint, chunk);
        });
        return visited[0] < count || !increment(last[0]) ? null : last[0];
    }

    @Override
    public boolean forEachFrom(byte[] fingerprint, int count, EntryVisitor visitor) throws IOException {
        database.forEachFingerprint(IndexKeys.fingerprint(fingerprint, 0), count, visitor);
        return true;
    }

    /** Changes a fingerprint to the next one; returns false if there is none. */
    private static boolean increment(byte[] fingerprint) {
        for (int i = fingerprint.length - 1; i >= 0; i--) {
            if (++fingerprint[i] != 0) {
                return true;
            }
        }
        return false;
    }

    /** Visits the first entry whose fingerprint is not below a random one; the lowest entry if there is none. */
    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        byte[] from = new byte[Fingerprints.BYTES];
        random.nextBytes(from);
        boolean[] found = new boolean[1];
        database.forEachFingerprint(IndexKeys.fingerprint(from, 0), 1, (fingerprint, chunk) -> {
            found[0] = true;
            visitor.visit(fingerprint, chunk);
        });
        if (!found[0]) {
            database.forEachFingerprint(IndexKeys.fingerprint(new byte[Fingerprints.BYTES], 0), 1, visitor);
        }
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return writer.epoch();
    }

    @Override
    public void stamp(Epoch epoch) throws IOException {
        writer.stamp(epoch);
    }

    @Override
    public long highestContainer() throws IOException {
        return writer.highestContainer();
    }

    @Override
    public void clear() throws IOException {
        writer.clear();
    }

    @Override
    public void flush() throws IOException {
        database.flush();
    }

    @Override
    public long estimatedChunks() {
        return database.estimatedRecords();
    }
}
