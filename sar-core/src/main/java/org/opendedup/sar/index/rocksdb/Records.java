package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.util.BitSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.index.ChunkIndex;

/**
 * What the two indexes in a RocksDB database have in common: every fingerprint is in the database, and those that are
 * likely to be looked up next are also in a {@link FingerprintCache}. Safe for use by many threads.
 *
 * <p>Locks: {@code writer} serializes writes, and {@code cache} guards the cache. A thread may acquire the second while
 * it holds the first. No lock is held while RocksDB is read for a lookup.
 */
abstract class Records {
    /** Maximum number of lookup objects kept for reuse: more than the threads that could run one at the same time. */
    private static final int POOLED_LOOKUPS = 16;

    final IndexDatabase database;
    final IndexWriter writer;
    private final FingerprintCache cache;
    private final BlockingQueue<SegmentLookup> lookups = new ArrayBlockingQueue<>(POOLED_LOOKUPS);

    Records(IndexDatabase database, long cacheBytes) {
        this.database = database;
        cache = new FingerprintCache(cacheBytes);
        writer = new IndexWriter(database, cache);
    }

    /**
     * Looks up chunks.
     *
     * @param onlyMissing only those without a hint
     * @return their number
     */
    int lookup(Segment segment, boolean onlyMissing) throws IOException {
        SegmentLookup pooled = lookups.poll();
        SegmentLookup lookup = pooled == null ? new SegmentLookup(database, cache) : pooled;
        int asked = lookup.run(segment, onlyMissing);
        lookups.offer(lookup);
        return asked;
    }

    /** Returns the number of fingerprints that led to these slots. */
    int removed(long container, byte[] fingerprints, BitSet slots) throws IOException {
        return new SlotRemoval(database, writer, container, fingerprints).run(slots);
    }

    public void cover(long container, byte[] frameTable) throws IOException {
        writer.cover(container, frameTable);
    }

    public void uncover(long container) throws IOException {
        writer.uncover(container);
    }

    public byte @Nullable [] frameTable(long container) throws IOException {
        return database.get(IndexKeys.frameTable(container));
    }

    public void forEachOf(long container, ChunkIndex.SlotVisitor visitor) throws IOException {
        ContainerFingerprints.forEachOf(database, container, visitor);
    }

    public void close() throws IOException {
        writer.close();
        database.close();
    }
}
