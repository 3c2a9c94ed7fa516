package org.opendedup.sar.index.rocksdb;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.DiskIndex;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Makes all changes of the index, one after the other under this object's lock: first in RocksDB, then in the cache, so
 * that the cache is never ahead of a failed write. Safe for use by many threads.
 */
final class IndexWriter implements Closeable {
    private final IndexDatabase database;
    private final FingerprintCache cache;
    private final OpenContainers openContainers = new OpenContainers();

    private final WriteBatch batch = new WriteBatch();
    /** The highest container id of any record; -1 if not read yet. */
    private long highest = -1;
    /** The highest container id in the batch. */
    private long highestOfBatch;
    /** The 'D' records that the batch changes, by container id; an empty one is deleted, or did not exist. */
    private final Map<Long, ContainerFingerprints> struck = new HashMap<>();
    /**
     * The 'L' records that the batch changes, by container id. What leaves a 'D' record because the content was stored
     * again is kept there: if the old container is lost, nothing else has its fingerprints.
     */
    private final Map<Long, ContainerFingerprints> left = new HashMap<>();

    /** For each chunk of a segment, the copy that its fingerprint led to until now. */
    private long[] replaced = new long[0];

    private final ByteBuffer key = ByteBuffer.allocateDirect(IndexKeys.FINGERPRINT_KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

    /** @param cache kept up to date; locked while it is changed */
    IndexWriter(IndexDatabase database, FingerprintCache cache) {
        this.database = database;
        this.cache = cache;
    }

    synchronized void insert(Segment segment) throws IOException {
        begin();
        byte[] fingerprints = segment.fingerprints();
        collectReplaced(segment);
        for (int i = 0; i < segment.count(); i++) {
            if (segment.isFresh(i)) {
                int offset = Segment.fingerprintOffset(i);
                addInsert(fingerprints, offset, segment.chunkId(i));
                strikeReplaced(fingerprints, offset, replaced[i], segment.chunkId(i));
            }
        }
        write();
        synchronized (cache) {
            for (int i = 0; i < segment.count(); i++) {
                if (segment.isFresh(i)) {
                    cache.put(fingerprints, Segment.fingerprintOffset(i), segment.chunkId(i));
                }
            }
        }
        for (int i = 0; i < segment.count(); i++) {
            if (segment.isFresh(i)) {
                openContainers.add(fingerprints, Segment.fingerprintOffset(i), segment.chunkId(i));
            }
        }
    }

    /**
     * Determines the copies that the fresh chunks' fingerprints lead to now. Reads nothing for fingerprints that the
     * lookup did not find: if another stream inserted one since, the cache has it. The exception is a ring that wrapped
     * around while one segment was stored. The other copy then stays in its container's record and may be returned by
     * lookups, until it turns out to be dead and the hint for it removes it.
     */
    private void collectReplaced(Segment segment) throws IOException {
        byte[] fingerprints = segment.fingerprints();
        if (replaced.length < segment.count()) {
            replaced = new long[segment.count()];
        }
        synchronized (cache) {
            for (int i = 0; i < segment.count(); i++) {
                replaced[i] = segment.isFresh(i) ? cache.get(fingerprints, Segment.fingerprintOffset(i)) : ChunkId.NONE;
            }
        }
        for (int i = 0; i < segment.count(); i++) {
            if (segment.isFresh(i) && replaced[i] == ChunkId.NONE && segment.hint(i) != ChunkId.NONE) {
                replaced[i] = stored(IndexKeys.fingerprint(fingerprints, Segment.fingerprintOffset(i)));
            }
        }
    }

    synchronized void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        begin();
        addInsert(fingerprints, offset, chunkId);
        strikeReplaced(fingerprints, offset, current(fingerprints, offset), chunkId);
        write();
        synchronized (cache) {
            cache.put(fingerprints, offset, chunkId);
        }
        openContainers.add(fingerprints, offset, chunkId);
    }

    /** Returns the chunk id that a fingerprint leads to, or {@link ChunkId#NONE}. */
    private long current(byte[] fingerprints, int offset) throws IOException {
        long cached;
        synchronized (cache) {
            cached = cache.get(fingerprints, offset);
        }
        return cached != ChunkId.NONE ? cached : stored(IndexKeys.fingerprint(fingerprints, offset));
    }

    private long stored(byte[] fingerprintKey) throws IOException {
        byte[] chunkId = database.get(fingerprintKey);
        return chunkId == null ? ChunkId.NONE : IndexKeys.chunkId(chunkId);
    }

    private void addInsert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        noteContainer(ChunkId.container(chunkId));
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
    }

    private void strikeReplaced(byte[] fingerprints, int offset, long before, long now) throws IOException {
        if (before != ChunkId.NONE && before != now) {
            strike(fingerprints, offset, before);
        }
    }

    /**
     * Removes a fingerprint from the record of the container that holds {@code chunkId}. Otherwise loading that record
     * would map the fingerprint to this copy again, without a check of its 'F' record.
     */
    private void strike(byte[] fingerprints, int offset, long chunkId) throws IOException {
        openContainers.strike(fingerprints, offset, chunkId);
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        entries(struck, container, IndexKeys.containerFingerprints(container)).strike(slot, fingerprints, offset);
        ContainerFingerprints behind = entries(left, container, IndexKeys.leftFingerprints(container));
        behind.strike(slot, fingerprints, offset);
        behind.add(slot, fingerprints, offset);
    }

    /** Returns the entries of a record that the batch changes. */
    private ContainerFingerprints entries(Map<Long, ContainerFingerprints> changed, long container, byte[] recordKey)
            throws IOException {
        ContainerFingerprints entries = changed.get(container);
        if (entries == null) {
            byte[] record = database.get(recordKey);
            entries = record == null ? new ContainerFingerprints() : new ContainerFingerprints(container, record);
            changed.put(container, entries);
        }
        return entries;
    }

    /**
     * Writes the batch atomically, together with the records that entries were removed from: after a crash, all of it
     * is present or nothing.
     */
    private void write() throws IOException {
        for (Map.Entry<Long, ContainerFingerprints> entry : struck.entrySet()) {
            putOrDelete(IndexKeys.containerFingerprints(entry.getKey()), entry.getValue());
        }
        for (Map.Entry<Long, ContainerFingerprints> entry : left.entrySet()) {
            putOrDelete(IndexKeys.leftFingerprints(entry.getKey()), entry.getValue());
        }
        writeBatch();
        if (!struck.isEmpty()) {
            synchronized (cache) {
                cache.countStrike();
            }
        }
    }

    private void putOrDelete(byte[] recordKey, ContainerFingerprints entries) throws IOException {
        if (entries.isEmpty()) {
            delete(recordKey);
        } else {
            put(recordKey, entries.toRecord());
        }
    }

    /**
     * Removes the fingerprints of these slots of a container if they still lead there.
     *
     * @param fingerprints slot {@code i}'s begins at {@code i * Fingerprints.BYTES}
     * @param unlisted those of the slots whose fingerprints led there a moment ago although the container's record does
     *     not have them
     * @return the number of fingerprints that led there
     */
    synchronized int remove(long container, byte[] fingerprints, BitSet slots, BitSet unlisted) throws IOException {
        begin();
        BitSet leading = openContainers.strike(container, fingerprints, slots);
        byte[] record = database.get(IndexKeys.containerFingerprints(container));
        if (record != null) {
            ContainerFingerprints entries = new ContainerFingerprints(container, record);
            BitSet listed = entries.strike(fingerprints, slots);
            if (!listed.isEmpty()) {
                struck.put(container, entries);
                leading.or(listed);
            }
        }
        if (database.get(IndexKeys.leftFingerprints(container)) != null) {
            entries(left, container, IndexKeys.leftFingerprints(container)).strike(fingerprints, slots);
        }
        for (int slot = unlisted.nextSetBit(0); slot >= 0; slot = unlisted.nextSetBit(slot + 1)) {
            byte[] fingerprintKey = IndexKeys.fingerprint(fingerprints, slot * Fingerprints.BYTES);
            if (!leading.get(slot) && stored(fingerprintKey) == ChunkId.of(container, slot)) {
                leading.set(slot);
            }
        }
        for (int slot = leading.nextSetBit(0); slot >= 0; slot = leading.nextSetBit(slot + 1)) {
            delete(IndexKeys.fingerprint(fingerprints, slot * Fingerprints.BYTES));
        }
        write();
        synchronized (cache) {
            for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
                cache.remove(fingerprints, slot * Fingerprints.BYTES, ChunkId.of(container, slot));
            }
        }
        return leading.cardinality();
    }

    /**
     * Adds entries that were in another index before. They are listed in the container's records at once, whether it is
     * covered or not.
     *
     * @return the number of fingerprints that led nowhere before
     */
    synchronized int add(long container, DiskIndex.Entries entries) throws IOException {
        begin();
        ContainerFingerprints listed = entries(struck, container, IndexKeys.containerFingerprints(container));
        ContainerFingerprints behind = entries(left, container, IndexKeys.leftFingerprints(container));
        boolean hadLeft = !behind.isEmpty();
        BitSet known = listed.slots();
        known.or(behind.slots());
        byte[] fingerprints = entries.fingerprints();
        BitSet moved = new BitSet();
        int added = 0;
        for (int i = 0; i < entries.slots().length; i++) {
            int slot = entries.slots()[i];
            int offset = i * Fingerprints.BYTES;
            long chunk = ChunkId.of(container, slot);
            boolean isLive = entries.live().get(i);
            long before = isLive || known.get(slot) ? current(fingerprints, offset) : ChunkId.NONE;
            if (isLive && before != chunk) {
                moved.set(i);
                added += before == ChunkId.NONE ? 1 : 0;
                strikeReplaced(fingerprints, offset, before, chunk);
                addInsert(fingerprints, offset, chunk);
            } else if (!isLive && before == chunk) {
                delete(IndexKeys.fingerprint(fingerprints, offset));
                added--;
            }
            if (known.get(slot)) {
                listed.strike(slot, fingerprints, offset);
                behind.strike(slot, fingerprints, offset);
            }
            (isLive ? listed : behind).add(slot, fingerprints, offset);
        }
        if (!hadLeft && behind.isEmpty()) {
            left.remove(container);
        }
        write();
        synchronized (cache) {
            for (int i = 0; i < entries.slots().length; i++) {
                int offset = i * Fingerprints.BYTES;
                long chunk = ChunkId.of(container, entries.slots()[i]);
                if (moved.get(i)) {
                    cache.replace(fingerprints, offset, chunk);
                } else if (!entries.live().get(i)) {
                    cache.remove(fingerprints, offset, chunk);
                }
            }
        }
        return added;
    }

    /**
     * Makes the fingerprints of some slots lead nowhere, wherever they led; that is kept as left behind.
     *
     * @return the number of those that led somewhere
     */
    synchronized int forget(byte[] fingerprints, BitSet slots) throws IOException {
        begin();
        int forgotten = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            int offset = slot * Fingerprints.BYTES;
            long chunk = current(fingerprints, offset);
            if (chunk != ChunkId.NONE) {
                strike(fingerprints, offset, chunk);
                delete(IndexKeys.fingerprint(fingerprints, offset));
                forgotten++;
            }
        }
        if (forgotten == 0) {
            return 0;
        }
        write();
        synchronized (cache) {
            for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
                int offset = slot * Fingerprints.BYTES;
                cache.remove(fingerprints, offset, cache.get(fingerprints, offset));
            }
        }
        return forgotten;
    }

    synchronized void cover(long container, byte[] frameTable) throws IOException {
        begin();
        put(IndexKeys.frameTable(container), frameTable);
        noteContainer(container);
        ContainerFingerprints fingerprints = openContainers.remove(container);
        if (fingerprints != null && !fingerprints.isEmpty()) {
            put(IndexKeys.containerFingerprints(container), fingerprints.toRecord());
        }
        writeBatch();
    }

    private void noteContainer(long container) {
        highestOfBatch = Math.max(highestOfBatch, container);
    }

    /**
     * Writes the batch, and the highest container id if that rises: after a crash there is no record of a container
     * above it.
     */
    private void writeBatch() throws IOException {
        if (highestOfBatch > highestContainer()) {
            put(IndexKeys.HIGHEST_CONTAINER, longBytes(highestOfBatch));
        }
        database.write(batch);
        highest = Math.max(highest, highestOfBatch);
    }

    private static byte[] longBytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    synchronized long highestContainer() throws IOException {
        if (highest < 0) {
            byte[] record = database.get(IndexKeys.HIGHEST_CONTAINER);
            highest = record == null ? 0 : ByteBuffer.wrap(record).getLong();
        }
        return highest;
    }

    @Nullable
    Epoch epoch() throws IOException {
        return Epoch.ofRecord(database.get(IndexKeys.EPOCH));
    }

    synchronized void stamp(Epoch epoch) throws IOException {
        begin();
        put(IndexKeys.EPOCH, epoch.toRecord());
        database.write(batch);
        database.flush();
    }

    synchronized void clear() throws IOException {
        begin();
        openContainers.clear();
        synchronized (cache) {
            cache.clear();
        }
        highest = 0;
        database.clear();
    }

    synchronized void uncover(long container) throws IOException {
        begin();
        openContainers.remove(container);
        delete(IndexKeys.frameTable(container));
        delete(IndexKeys.containerFingerprints(container));
        delete(IndexKeys.leftFingerprints(container));
        database.write(batch);
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
        struck.clear();
        left.clear();
        highestOfBatch = 0;
    }

    /** Idempotent. */
    @Override
    public synchronized void close() {
        batch.close();
    }
}
