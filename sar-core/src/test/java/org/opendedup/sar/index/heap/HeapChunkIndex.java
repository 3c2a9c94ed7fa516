package org.opendedup.sar.index.heap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;

/** A chunk index in two maps under one lock. Nothing survives {@link #close()}. */
public final class HeapChunkIndex implements ChunkIndex {
    private final Map<ByteBuffer, Long> chunkIds = new HashMap<>();
    private final TreeMap<Long, byte[]> frameTables = new TreeMap<>();
    /** The fingerprint of every chunk that was inserted and not removed, also of those that are not led to any more. */
    private final TreeMap<Long, byte[]> inserted = new TreeMap<>();

    private @Nullable Epoch epoch;
    private long highestContainer;

    @Override
    public Exactness exactness() {
        return Exactness.EXACT;
    }

    @Override
    public synchronized void lookup(Segment segment) {
        for (int i = 0; i < segment.count(); i++) {
            if (!segment.isZero(i)) {
                ByteBuffer fingerprint = fingerprint(segment.fingerprints(), Segment.fingerprintOffset(i));
                segment.setHint(i, chunkIds.getOrDefault(fingerprint, ChunkId.NONE));
            }
        }
    }

    @Override
    public synchronized void insert(Segment segment) {
        for (int i = 0; i < segment.count(); i++) {
            if (segment.isFresh(i)) {
                insert(segment.fingerprints(), Segment.fingerprintOffset(i), segment.chunkId(i));
            }
        }
    }

    @Override
    public synchronized void insert(byte[] fingerprints, int offset, long chunkId) {
        ByteBuffer fingerprint = fingerprint(fingerprints, offset);
        chunkIds.put(fingerprint, chunkId);
        inserted.put(chunkId, fingerprint.array());
        highestContainer = Math.max(highestContainer, ChunkId.container(chunkId));
    }

    @Override
    public synchronized void remove(long container, byte[] fingerprints, BitSet slots) {
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            chunkIds.remove(fingerprint(fingerprints, slot * Fingerprints.BYTES), ChunkId.of(container, slot));
            inserted.remove(ChunkId.of(container, slot));
        }
    }

    @Override
    public synchronized byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor) {
        Comparator<Map.Entry<ByteBuffer, Long>> order =
                Comparator.comparing(entry -> entry.getKey().array(), Arrays::compareUnsigned);
        List<Map.Entry<ByteBuffer, Long>> entries = chunkIds.entrySet().stream()
                .filter(entry -> position == null
                        || Arrays.compareUnsigned(entry.getKey().array(), position) > 0)
                .sorted(order)
                .limit(count)
                .toList();
        byte[] last = null;
        for (Map.Entry<ByteBuffer, Long> entry : entries) {
            last = entry.getKey().array().clone();
            visitor.visit(last.clone(), entry.getValue());
        }
        return entries.size() < count ? null : last;
    }

    @Override
    public synchronized void sample(RandomGenerator random, EntryVisitor visitor) {
        if (!chunkIds.isEmpty()) {
            chunkIds.entrySet().stream()
                    .skip(random.nextInt(chunkIds.size()))
                    .findFirst()
                    .ifPresent(entry -> visitor.visit(entry.getKey().array().clone(), entry.getValue()));
        }
    }

    private static ByteBuffer fingerprint(byte[] fingerprints, int offset) {
        return ByteBuffer.wrap(Arrays.copyOfRange(fingerprints, offset, offset + Fingerprints.BYTES));
    }

    @Override
    public synchronized void cover(long container, byte[] frameTable) {
        frameTables.put(container, frameTable.clone());
        highestContainer = Math.max(highestContainer, container);
    }

    @Override
    public synchronized void uncover(long container) {
        frameTables.remove(container);
        inserted.subMap(ChunkId.of(container, 0), ChunkId.of(container + 1, 0)).clear();
    }

    @Override
    public synchronized byte @Nullable [] frameTable(long container) {
        byte[] frameTable = frameTables.get(container);
        return frameTable == null ? null : frameTable.clone();
    }

    @Override
    public synchronized void forEachOf(long container, SlotVisitor visitor) {
        inserted.subMap(ChunkId.of(container, 0), ChunkId.of(container + 1, 0))
                .forEach((chunkId, fingerprint) -> visitor.visit(ChunkId.slot(chunkId), fingerprint.clone()));
    }

    @Override
    public synchronized @Nullable Epoch epoch() {
        return epoch;
    }

    @Override
    public synchronized void stamp(Epoch now) {
        epoch = now;
    }

    @Override
    public synchronized long highestContainer() {
        return highestContainer;
    }

    @Override
    public synchronized void clear() {
        chunkIds.clear();
        frameTables.clear();
        inserted.clear();
        epoch = null;
        highestContainer = 0;
    }

    @Override
    public void flush() {
        // The index is only on the heap; there is nothing to write.
    }

    @Override
    public synchronized long estimatedChunks() {
        return chunkIds.size();
    }

    @Override
    public synchronized void close() {
        clear();
    }
}
