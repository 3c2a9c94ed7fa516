package org.opendedup.sar.metadata.counts;

import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.StoredCopies;

/**
 * Maintains the totals of {@link StoredCopies} while counts change. For many threads, each of which changes different
 * slots.
 */
final class CopyCounters {
    private final LongAdder bytes = new LongAdder();
    private final LongAdder chunks = new LongAdder();
    private final LongAdder garbageBytes = new LongAdder();
    private final LongAdder garbageChunks = new LongAdder();
    private final LongAdder damagedChunks = new LongAdder();

    CopyCounters(StoredCopies before) {
        bytes.add(before.bytes());
        chunks.add(before.chunks());
        garbageBytes.add(before.garbageBytes());
        garbageChunks.add(before.garbageChunks());
        damagedChunks.add(before.damagedChunks());
    }

    StoredCopies now() {
        return new StoredCopies(
                bytes.sum(), chunks.sum(), garbageBytes.sum(), garbageChunks.sum(), damagedChunks.sum());
    }

    /**
     * Runs a change of one slot and updates the totals for its copy. A change that throws must have changed nothing.
     */
    void change(CountRecord record, int slot, Runnable change) {
        boolean wasAlive = record.isAlive(slot);
        boolean wasGarbage = record.isGarbage(slot);
        boolean wasLost = record.isLost(slot);
        change.run();
        add(record.length(slot), (record.isAlive(slot) ? 1 : 0) - (wasAlive ? 1 : 0), bytes, chunks);
        add(record.length(slot), (record.isGarbage(slot) ? 1 : 0) - (wasGarbage ? 1 : 0), garbageBytes, garbageChunks);
        if (record.isLost(slot) != wasLost) {
            damagedChunks.add(wasLost ? -1 : 1);
        }
    }

    private static void add(int length, int more, LongAdder bytes, LongAdder chunks) {
        if (more != 0) {
            bytes.add((long) more * length);
            chunks.add(more);
        }
    }
}
