package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.util.BitSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.DiskIndex;
import org.opendedup.sar.index.DiskIndexUse;

/**
 * A disk index in the database of an exact index: the same records, written by the same writer and looked up in the
 * same batches. So the Bloom filters answer for nearly all unknown chunks without a read, and two neighbours in one
 * container bring all of its fingerprints into the cache. The record of the epoch has the generation in place of the
 * volume, and the numbers of moves and chunks.
 */
final class RocksDbDiskIndex extends Records implements DiskIndex {
    private final UUID identity;
    private final AtomicLong chunks = new AtomicLong();
    private final LongAdder asked = new LongAdder();
    private final LongAdder found = new LongAdder();
    private boolean closed;

    private RocksDbDiskIndex(IndexDatabase database, long cacheBytes, long generation) {
        super(database, cacheBytes);
        identity = new UUID(0, generation);
    }

    /**
     * Takes an open database.
     *
     * @throws CorruptionException if it belongs to another index; it is closed then, as after each failure
     */
    static RocksDbDiskIndex of(IndexDatabase database, long cacheBytes, long generation) throws IOException {
        RocksDbDiskIndex index = new RocksDbDiskIndex(database, cacheBytes, generation);
        try {
            Epoch mark = index.writer.epoch();
            if (mark != null && !mark.volume().equals(index.identity)) {
                throw new CorruptionException(
                        "the disk index",
                        -1,
                        index.identity.toString(),
                        mark.volume().toString());
            }
            index.chunks.set(mark == null ? 0 : mark.token());
            return index;
        } catch (IOException e) {
            index.writer.close();
            database.close();
            throw e;
        }
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        int missing = lookup(segment, true);
        asked.add(missing);
        found.add(missing - missing(segment));
    }

    private static int missing(Segment segment) {
        int missing = 0;
        for (int i = 0; i < segment.count(); i++) {
            missing += !segment.isZero(i) && segment.hint(i) == ChunkId.NONE ? 1 : 0;
        }
        return missing;
    }

    @Override
    public void add(long container, Entries entries) throws IOException {
        chunks.addAndGet(writer.add(container, entries));
    }

    @Override
    public void forget(byte[] fingerprints, BitSet slots) throws IOException {
        chunks.addAndGet(-writer.forget(fingerprints, slots));
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        chunks.addAndGet(-removed(container, fingerprints, slots));
    }

    @Override
    public void forEachFrom(byte[] fingerprint, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        if (fingerprint.length != Fingerprints.BYTES) {
            throw new IllegalArgumentException(fingerprint.length + " bytes of a fingerprint");
        }
        database.forEachFingerprint(IndexKeys.fingerprint(fingerprint, 0), count, visitor);
    }

    @Override
    public long moves() throws IOException {
        Epoch mark = writer.epoch();
        return mark == null ? 0 : mark.number();
    }

    @Override
    public void settle(long moves) throws IOException {
        writer.stamp(new Epoch(identity, moves, chunks.get()));
    }

    @Override
    public DiskIndexUse use() {
        return new DiskIndexUse(database.tableBytes(), chunks.get(), asked.sum(), found.sum());
    }

    /** Idempotent. */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            try {
                // The number of chunks may have changed since.
                settle(moves());
            } finally {
                super.close();
            }
        }
    }
}
