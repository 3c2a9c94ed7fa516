package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.DiskIndex;
import org.opendedup.sar.index.DiskIndexUse;

/**
 * Disk indexes in memory of which a power cut leaves a prefix of the changes, and at least what was settled. Like a
 * RocksDB database without a write-ahead log.
 */
final class CrashDiskIndexes implements DiskIndex.Place {
    /** How a disk index breaks its promise; the controls of crash tests. */
    enum Fault {
        NONE,
        /** It says that changes are durable before they are. */
        SETTLES_LATE,
        /** As above, but it remembers the number of moves. */
        SETTLES_ITS_NUMBER_ONLY
    }

    private final Fault fault;
    private final Map<Long, Stored> indexes = new HashMap<>();

    CrashDiskIndexes(Fault fault) {
        this.fault = fault;
    }

    private static final class Stored {
        final List<Consumer<Content>> changes = new ArrayList<>();
        int settled;
        long settledMoves;
        Content content = new Content();
    }

    private static final class Content {
        final TreeMap<ByteBuffer, Long> chunks = new TreeMap<>();
        final Map<Long, TreeMap<Integer, byte[]>> slots = new HashMap<>();
        final TreeMap<Long, byte[]> covers = new TreeMap<>();
        long moves;
    }

    /** Returns what a power cut now leaves. */
    CrashDiskIndexes crash(long seed) {
        Random random = new Random(seed);
        CrashDiskIndexes after = new CrashDiskIndexes(fault);
        indexes.forEach((generation, stored) -> {
            int least = fault == Fault.NONE ? stored.settled : 0;
            int kept = least + random.nextInt(stored.changes.size() - least + 1);
            Stored left = new Stored();
            left.changes.addAll(stored.changes.subList(0, kept));
            left.settled = kept;
            left.changes.forEach(change -> change.accept(left.content));
            if (fault == Fault.SETTLES_ITS_NUMBER_ONLY) {
                left.content.moves = stored.settledMoves;
            }
            after.indexes.put(generation, left);
        });
        return after;
    }

    /** Returns the number of moves of all indexes. */
    long moves() {
        return indexes.values().stream()
                .mapToLong(stored -> stored.content.moves)
                .sum();
    }

    @Override
    public boolean isThere(long generation) {
        return indexes.containsKey(generation);
    }

    @Override
    public DiskIndex open(long generation) {
        return new Opened(indexes.computeIfAbsent(generation, none -> new Stored()));
    }

    @Override
    public void deleteOthers(long generation) {
        indexes.keySet().retainAll(List.of(generation));
    }

    private static ByteBuffer key(byte[] fingerprints, int number) {
        int from = number * Fingerprints.BYTES;
        return ByteBuffer.wrap(Arrays.copyOfRange(fingerprints, from, from + Fingerprints.BYTES));
    }

    private static final class Opened implements DiskIndex {
        private final Stored stored;

        Opened(Stored stored) {
            this.stored = stored;
        }

        private synchronized void change(Consumer<Content> change) {
            stored.changes.add(change);
            change.accept(stored.content);
        }

        @Override
        public synchronized void lookup(Segment segment) {
            for (int i = 0; i < segment.count(); i++) {
                if (!segment.isZero(i) && segment.hint(i) == ChunkId.NONE) {
                    segment.setHint(
                            i, stored.content.chunks.getOrDefault(key(segment.fingerprints(), i), ChunkId.NONE));
                }
            }
        }

        @Override
        public void add(long container, Entries entries) {
            change(content -> {
                for (int i = 0; i < entries.slots().length; i++) {
                    ByteBuffer key = key(entries.fingerprints(), i);
                    long chunk = ChunkId.of(container, entries.slots()[i]);
                    content.slots
                            .computeIfAbsent(container, none -> new TreeMap<>())
                            .put(entries.slots()[i], key.array());
                    if (entries.live().get(i)) {
                        content.chunks.put(key, chunk);
                    } else {
                        content.chunks.remove(key, chunk);
                    }
                }
            });
        }

        @Override
        public void forget(byte[] fingerprints, BitSet slots) {
            BitSet which = (BitSet) slots.clone();
            change(content -> which.stream().forEach(slot -> content.chunks.remove(key(fingerprints, slot))));
        }

        @Override
        public void remove(long container, byte[] fingerprints, BitSet slots) {
            BitSet which = (BitSet) slots.clone();
            change(content -> which.stream().forEach(slot -> {
                ByteBuffer key = key(fingerprints, slot);
                content.chunks.remove(key, ChunkId.of(container, slot));
                TreeMap<Integer, byte[]> kept = content.slots.getOrDefault(container, new TreeMap<>());
                if (Arrays.equals(kept.get(slot), key.array())) {
                    kept.remove(slot);
                }
            }));
        }

        @Override
        public void cover(long container, byte[] frameTable) {
            change(content -> content.covers.put(container, frameTable));
        }

        @Override
        public void uncover(long container) {
            change(content -> content.covers.remove(container));
        }

        @Override
        public synchronized byte[] frameTable(long container) {
            return stored.content.covers.get(container);
        }

        @Override
        public synchronized void forEachOf(long container, ChunkIndex.SlotVisitor visitor) {
            stored.content.slots.getOrDefault(container, new TreeMap<>()).forEach(visitor::visit);
        }

        @Override
        public synchronized void forEachFrom(byte[] fingerprint, int count, ChunkIndex.EntryVisitor visitor) {
            stored.content.chunks.tailMap(ByteBuffer.wrap(fingerprint)).entrySet().stream()
                    .limit(count)
                    .forEach(entry -> visitor.visit(entry.getKey().array(), entry.getValue()));
        }

        @Override
        public synchronized long moves() {
            return stored.content.moves;
        }

        @Override
        public void settle(long moves) throws IOException {
            change(content -> content.moves = moves);
            synchronized (this) {
                stored.settled = stored.changes.size();
                stored.settledMoves = moves;
            }
        }

        @Override
        public synchronized DiskIndexUse use() {
            return new DiskIndexUse(0, stored.content.chunks.size(), 0, 0);
        }

        @Override
        public void close() {}
    }
}
