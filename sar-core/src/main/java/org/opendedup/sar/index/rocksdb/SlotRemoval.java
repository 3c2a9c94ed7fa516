package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Removes the fingerprints of some slots of a container. A fingerprint in the container's 'D' record leads there, so it
 * is removed without a look at its 'F' record: usually the one record is read instead of hundreds. The 'F' records of
 * the others are read first without the writer's lock, so that no insert waits for the disk; of these, the writer reads
 * only those that lead to the container again. For one thread.
 */
final class SlotRemoval {
    /** Maximum number of slots per batch, so that inserts wait for a few milliseconds at most. */
    private static final int BATCH = 512;

    private final IndexDatabase database;
    private final IndexWriter writer;
    private final long container;
    private final byte[] fingerprints;
    private final ChunkIdQuery query = new ChunkIdQuery();

    /** @param fingerprints slot {@code i}'s begins at {@code i * Fingerprints.BYTES} */
    SlotRemoval(IndexDatabase database, IndexWriter writer, long container, byte[] fingerprints) {
        this.database = database;
        this.writer = writer;
        this.container = container;
        this.fingerprints = fingerprints;
    }

    /** Returns the number of fingerprints that led to these slots. */
    int run(BitSet slots) throws IOException {
        int removed = 0;
        BitSet batch = new BitSet();
        int count = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            batch.set(slot);
            count++;
            if (count == BATCH) {
                removed += remove(batch);
                batch.clear();
                count = 0;
            }
        }
        return count > 0 ? removed + remove(batch) : removed;
    }

    private int remove(BitSet slots) throws IOException {
        BitSet unlisted = (BitSet) slots.clone();
        byte[] record = database.get(IndexKeys.containerFingerprints(container));
        if (record != null) {
            unlisted.andNot(new ContainerFingerprints(container, record).strike(fingerprints, slots));
        }
        return writer.remove(container, fingerprints, slots, leadingHere(unlisted));
    }

    /** Returns those of the slots that their fingerprints' 'F' records refer to. */
    private BitSet leadingHere(BitSet slots) throws IOException {
        // In the order of the keys, so that neighbouring ones share a block, and a disk reads in one direction.
        int[] sorted = slots.stream()
                .boxed()
                .sorted(this::compareFingerprints)
                .mapToInt(Integer::intValue)
                .toArray();
        BitSet leading = new BitSet();
        for (int from = 0; from < sorted.length; from += ChunkIdQuery.CAPACITY) {
            int to = Math.min(sorted.length, from + ChunkIdQuery.CAPACITY);
            query.clear();
            for (int i = from; i < to; i++) {
                query.add(fingerprints, sorted[i] * Fingerprints.BYTES);
            }
            database.read(query);
            for (int i = from; i < to; i++) {
                leading.set(sorted[i], query.chunkId(i - from) == ChunkId.of(container, sorted[i]));
            }
        }
        return leading;
    }

    private int compareFingerprints(int slot, int other) {
        int at = slot * Fingerprints.BYTES;
        int otherAt = other * Fingerprints.BYTES;
        return Arrays.compareUnsigned(
                fingerprints, at, at + Fingerprints.BYTES, fingerprints, otherAt, otherAt + Fingerprints.BYTES);
    }
}
