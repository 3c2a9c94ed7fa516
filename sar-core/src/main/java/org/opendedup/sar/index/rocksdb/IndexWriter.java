package org.opendedup.sar.index.rocksdb;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Every change of the index, one after the other under this object's lock: RocksDB first, then the cache, so that what the
 * cache knows is never ahead of a write that failed. Safe for use by many threads.
 */
final class IndexWriter implements Closeable {
    private final IndexDatabase database;
    private final FingerprintCache cache;
    private final OpenContainers openContainers = new OpenContainers();

    private final WriteBatch batch = new WriteBatch();
    private final ByteBuffer key = ByteBuffer.allocateDirect(IndexKeys.FINGERPRINT_KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

    /** @param cache to be kept up to date; locked while it is changed */
    IndexWriter(IndexDatabase database, FingerprintCache cache) {
        this.database = database;
        this.cache = cache;
    }

    synchronized void insert(Segment segment) throws IOException {
        begin();
        byte[] fingerprints = segment.fingerprints();
        for (int i = 0; i < segment.count(); i++) {
            if (segment.isFresh(i)) {
                addInsert(fingerprints, Segment.fingerprintOffset(i), segment.chunkId(i));
            }
        }
        database.write(batch);
        synchronized (cache) {
            for (int i = 0; i < segment.count(); i++) {
                if (segment.isFresh(i)) {
                    cache.put(fingerprints, Segment.fingerprintOffset(i), segment.chunkId(i));
                }
            }
        }
    }

    synchronized void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        begin();
        addInsert(fingerprints, offset, chunkId);
        database.write(batch);
        synchronized (cache) {
            cache.put(fingerprints, offset, chunkId);
        }
    }

    private void addInsert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        key.clear()
                .put(IndexKeys.FINGERPRINT)
                .put(fingerprints, offset, Fingerprints.BYTES)
                .flip();
        value.clear().putLong(chunkId).flip();
        try {
            batch.put(key, value);
        } catch (RocksDBException e) {
            throw new IOException("cannot add to a RocksDB batch", e);
        }
        openContainers.add(fingerprints, offset, chunkId);
    }

    /**
     * Also deletes the container's 'D' record: it would lead to the removed chunk again, after its content was stored
     * anew elsewhere.
     */
    synchronized void remove(byte[] fingerprints, int offset, long chunkId) throws IOException {
        begin();
        byte[] fingerprintKey = IndexKeys.fingerprint(fingerprints, offset);
        byte[] stored = database.get(fingerprintKey);
        if (stored != null
                && ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).getLong() == chunkId) {
            delete(fingerprintKey);
        }
        forgetFingerprints(ChunkId.container(chunkId));
        database.write(batch);
        synchronized (cache) {
            cache.remove(fingerprints, offset, chunkId);
        }
    }

    synchronized void cover(long container, byte[] frameTable) throws IOException {
        begin();
        put(IndexKeys.frameTable(container), frameTable);
        ContainerFingerprints fingerprints = openContainers.remove(container);
        if (fingerprints != null) {
            put(IndexKeys.containerFingerprints(container), fingerprints.toRecord());
        }
        database.write(batch);
    }

    synchronized void uncover(long container) throws IOException {
        begin();
        delete(IndexKeys.frameTable(container));
        forgetFingerprints(container);
        database.write(batch);
    }

    private void forgetFingerprints(long container) throws IOException {
        openContainers.remove(container);
        delete(IndexKeys.containerFingerprints(container));
    }

    private void put(byte[] recordKey, byte[] record) throws IOException {
        try {
            batch.put(recordKey, record);
        } catch (RocksDBException e) {
            throw new IOException("cannot add to a RocksDB batch", e);
        }
    }

    private void delete(byte[] recordKey) throws IOException {
        try {
            batch.delete(recordKey);
        } catch (RocksDBException e) {
            throw new IOException("cannot add to a RocksDB batch", e);
        }
    }

    private void begin() throws IOException {
        if (!batch.isOwningHandle()) {
            throw new IOException("the chunk index is closed");
        }
        batch.clear();
    }

    /** Idempotent. */
    @Override
    public synchronized void close() {
        batch.close();
    }
}
