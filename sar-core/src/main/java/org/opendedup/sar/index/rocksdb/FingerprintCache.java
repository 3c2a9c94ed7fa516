package org.opendedup.sar.index.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * The fingerprints most recently inserted, or read from RocksDB together with their container, with their chunk ids: a
 * ring in which a new entry takes the oldest one's place, and a hash table over it. Entries of a container come together,
 * so they also leave together. Primitive arrays alone, about {@value #ENTRY_BYTES} bytes an entry. Not thread-safe.
 */
final class FingerprintCache {
    /** Fingerprint 32, chunk id 8, chain 4, and two buckets an entry at most, of 4 each. */
    static final int ENTRY_BYTES = Fingerprints.BYTES + Long.BYTES + 3 * Integer.BYTES;

    private static final int NO_ENTRY = -1;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Which part of a fingerprint picks the bucket; it is random, so the part is its own hash. */
    private static final int HASH_OFFSET = 24;

    private final int capacity;
    private final byte[] fingerprints;
    private final long[] chunkIds;
    /** Next entry of the same bucket. */
    private final int[] chain;

    private final int[] buckets;
    private int newest = NO_ENTRY;
    private int used;
    private long strikes;

    /** @param memoryBytes what it may take; at least one entry is kept */
    FingerprintCache(long memoryBytes) {
        long maxEntries = Integer.MAX_VALUE / 2 / Fingerprints.BYTES;
        capacity = (int) Math.max(1, Math.min(maxEntries, memoryBytes / ENTRY_BYTES));
        fingerprints = new byte[capacity * Fingerprints.BYTES];
        chunkIds = new long[capacity];
        chain = new int[capacity];
        buckets = new int[Integer.highestOneBit(capacity) * 2];
        Arrays.fill(buckets, NO_ENTRY);
    }

    /** The chunk id kept for a fingerprint, or {@link ChunkId#NONE}. */
    long get(byte[] source, int offset) {
        int entry = find(source, offset);
        return entry == NO_ENTRY ? ChunkId.NONE : chunkIds[entry];
    }

    /** Keeps a chunk id for a fingerprint, in place of the one kept so far. */
    void put(byte[] source, int offset, long chunkId) {
        int entry = find(source, offset);
        if (entry != NO_ENTRY) {
            chunkIds[entry] = chunkId;
        } else {
            add(source, offset, chunkId);
        }
    }

    /** Keeps a chunk id for a fingerprint that has none. */
    void putIfAbsent(byte[] source, int offset, long chunkId) {
        if (find(source, offset) == NO_ENTRY) {
            add(source, offset, chunkId);
        }
    }

    /** Forgets a fingerprint if it leads to {@code chunkId}. */
    void remove(byte[] source, int offset, long chunkId) {
        int entry = find(source, offset);
        if (entry != NO_ENTRY && chunkIds[entry] == chunkId) {
            unlink(entry);
            chunkIds[entry] = ChunkId.NONE;
        }
    }

    /**
     * Counts the times that entries were struck from container records. A record read before the last of them may name
     * what was struck, and must not be put.
     */
    long strikes() {
        return strikes;
    }

    void countStrike() {
        strikes++;
    }

    /** Forgets everything. What was read before is not put any more. */
    void clear() {
        Arrays.fill(buckets, NO_ENTRY);
        newest = NO_ENTRY;
        used = 0;
        strikes++;
    }

    private int find(byte[] source, int offset) {
        int entry = buckets[bucket(source, offset)];
        while (entry != NO_ENTRY && !isAt(entry, source, offset)) {
            entry = chain[entry];
        }
        return entry;
    }

    private boolean isAt(int entry, byte[] source, int offset) {
        int at = entry * Fingerprints.BYTES;
        return Arrays.equals(fingerprints, at, at + Fingerprints.BYTES, source, offset, offset + Fingerprints.BYTES);
    }

    private void add(byte[] source, int offset, long chunkId) {
        newest = newest + 1 == capacity ? 0 : newest + 1;
        if (used < capacity) {
            used++;
        } else if (chunkIds[newest] != ChunkId.NONE) {
            unlink(newest);
        }
        System.arraycopy(source, offset, fingerprints, newest * Fingerprints.BYTES, Fingerprints.BYTES);
        chunkIds[newest] = chunkId;
        int bucket = bucket(source, offset);
        chain[newest] = buckets[bucket];
        buckets[bucket] = newest;
    }

    private void unlink(int entry) {
        int bucket = bucket(fingerprints, entry * Fingerprints.BYTES);
        if (buckets[bucket] == entry) {
            buckets[bucket] = chain[entry];
            return;
        }
        int before = buckets[bucket];
        while (chain[before] != entry) {
            before = chain[before];
        }
        chain[before] = chain[entry];
    }

    private int bucket(byte[] source, int offset) {
        return (int) (long) LONG.get(source, offset + HASH_OFFSET) & (buckets.length - 1);
    }
}
