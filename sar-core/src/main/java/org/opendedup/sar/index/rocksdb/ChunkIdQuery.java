package org.opendedup.sar.index.rocksdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * A question to RocksDB for the chunk ids of some fingerprints, and its answer. Used again and again: its direct buffers
 * spare an allocation per chunk. RocksDB is asked key by key: its multi-get makes four objects a key, and answered as many
 * keys a CPU second within what runs differ (366 000 and 413 000 new ones, 462 000 and 474 000 known ones, of a million). For one thread at a
 * time.
 */
final class ChunkIdQuery {
    /** The most fingerprints of one query. */
    static final int CAPACITY = 256;

    private final ByteBuffer key = ByteBuffer.allocateDirect(IndexKeys.FINGERPRINT_KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final byte[] fingerprints = new byte[CAPACITY * Fingerprints.BYTES];
    private final long[] chunkIds = new long[CAPACITY];
    private int count;

    void clear() {
        count = 0;
    }

    void add(byte[] source, int offset) {
        System.arraycopy(source, offset, fingerprints, count * Fingerprints.BYTES, Fingerprints.BYTES);
        count++;
    }

    /** After {@link #run}: the chunk id that fingerprint {@code i} leads to, or {@link ChunkId#NONE}. */
    long chunkId(int i) {
        return chunkIds[i];
    }

    void run(RocksDB db, ReadOptions options) throws RocksDBException {
        for (int i = 0; i < count; i++) {
            key.clear()
                    .put(IndexKeys.FINGERPRINT)
                    .put(fingerprints, i * Fingerprints.BYTES, Fingerprints.BYTES)
                    .flip();
            value.clear();
            chunkIds[i] = db.get(options, key, value) == Long.BYTES ? value.getLong(0) : ChunkId.NONE;
        }
    }
}
