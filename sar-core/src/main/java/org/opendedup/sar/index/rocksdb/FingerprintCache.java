package org.opendedup.sar.index.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * A cache of fingerprints and their chunk ids: those inserted last, and those loaded from RocksDB together with their
 * container. It is a ring in which a new entry replaces the oldest one, with a hash table over it. Entries of a
 * container are added together, so they are also evicted together. Uses only primitive arrays, about
 * {@value #ENTRY_BYTES} bytes per entry. Not thread-safe.
 */
final class FingerprintCache {
    /** Bytes per entry: fingerprint 32, chunk id 8, chain 4, and at most two buckets of 4 bytes each. */
    static final int ENTRY_BYTES = Fingerprints.BYTES + Long.BYTES + 3 * Integer.BYTES;

    private static final int NO_ENTRY = -1;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /**
     * Offset in a fingerprint of the bytes that select the bucket. A fingerprint is random, so these bytes are the
     * hash.
     */
    private static final int HASH_OFFSET = 24;

    private final int capacity;
    private final byte[] fingerprints;
    private final long[] chunkIds;
    /** For each entry, the next entry of the same bucket. */
    private final int[] chain;

    private final int[] buckets;
    private int newest = NO_ENTRY;
    private int used;
    private long strikes;

    /** @param memoryBytes maximum memory, in bytes; at least one entry is kept */
    FingerprintCache(long memoryBytes) {
        long maxEntries = Integer.MAX_VALUE / 2 / Fingerprints.BYTES;
        capacity = (int) Math.max(1, Math.min(maxEntries, memoryBytes / ENTRY_BYTES));
        fingerprints = new byte[capacity * Fingerprints.BYTES];
        chunkIds = new long[capacity];
        chain = new int[capacity];
        buckets = new int[Integer.highestOneBit(capacity) * 2];
        Arrays.fill(buckets, NO_ENTRY);
    }

    /** Returns the chunk id of a fingerprint, or {@link ChunkId#NONE}. */
    long get(byte[] source, int offset) {
        int entry = find(source, offset);
        return entry == NO_ENTRY ? ChunkId.NONE : chunkIds[entry];
    }

    /** Sets the chunk id of a fingerprint, replacing an existing one. */
    void put(byte[] source, int offset, long chunkId) {
        int entry = find(source, offset);
        if (entry != NO_ENTRY) {
            chunkIds[entry] = chunkId;
        } else {
            add(source, offset, chunkId);
        }
    }

    /** Sets the chunk id of a fingerprint that has one. */
    void replace(byte[] source, int offset, long chunkId) {
        int entry = find(source, offset);
        if (entry != NO_ENTRY) {
            chunkIds[entry] = chunkId;
        }
    }

    /** Sets the chunk id of a fingerprint that has none. */
    void putIfAbsent(byte[] source, int offset, long chunkId) {
        if (find(source, offset) == NO_ENTRY) {
            add(source, offset, chunkId);
        }
    }

    /** Removes a fingerprint if it leads to {@code chunkId}. */
    void remove(byte[] source, int offset, long chunkId) {
        int entry = find(source, offset);
        if (entry != NO_ENTRY && chunkIds[entry] == chunkId) {
            unlink(entry);
            chunkIds[entry] = ChunkId.NONE;
        }
    }

    /**
     * Returns how many times entries were removed from container records. A record that was read before the last
     * removal may contain a removed entry, and must not be added.
     */
    long strikes() {
        return strikes;
    }

    void countStrike() {
        strikes++;
    }

    /** Removes everything. Records that were read earlier are not added any more. */
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
