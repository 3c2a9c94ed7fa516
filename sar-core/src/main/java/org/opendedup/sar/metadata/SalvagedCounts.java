package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Counts all references of a salvaged database again, and makes the count records agree with them. A record that is
 * lost is made anew; chunks without a reference are not in it. Keeps in memory an int for each referenced chunk.
 */
final class SalvagedCounts {
    /** Number of containers whose records are changed in one batch. */
    private static final int BATCH = 256;

    private final KeyValueStore database;
    private final int pageBytes;
    private final long lostContainer;
    private final ChunkLengths lengths;
    private final Map<Long, int[]> references = new HashMap<>();
    private final Map<Long, Integer> continuations = new HashMap<>();
    /** First four bytes of fingerprint, and most bytes referred to, of chunks whose counts are lost. */
    private final Map<Long, long[]> unknown = new HashMap<>();

    private StoredCopies stored = StoredCopies.NONE;
    private long remade;

    SalvagedCounts(KeyValueStore database, int pageBytes, long lostContainer, ChunkLengths lengths) {
        this.database = database;
        this.pageBytes = pageBytes;
        this.lostContainer = lostContainer;
        this.lengths = lengths;
    }

    /** Returns the totals of all counts. */
    StoredCopies stored() {
        return stored;
    }

    /** Returns the number of containers whose counts were made anew. */
    long remade() {
        return remade;
    }

    /**
     * Counts them.
     *
     * @param lost receives count records that can be read and make no sense
     * @param pages number of pages of all recipes, for the progress
     */
    void run(LostRecords lost, long pages, SalvageProgress progress) throws IOException {
        count(pages, progress);
        TreeSet<Long> containers = new TreeSet<>(references.keySet());
        try (Cursor cursor = database.scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                containers.add(Keys.longAt(cursor.key(), 0));
            }
        }
        noteUnknown(containers, lost, pages, progress);
        Batch batch = database.batch();
        try {
            int inBatch = 0;
            long done = 0;
            for (long container : containers) {
                progress.at("counts", done++, containers.size());
                correct(batch, container);
                if (++inBatch == BATCH) {
                    batch.commit();
                    batch.close();
                    batch = database.batch();
                    inBatch = 0;
                }
            }
            batch.commit();
        } finally {
            batch.close();
        }
    }

    private interface EntryConsumer {
        void accept(RecipePage page, int entry);
    }

    private void forEachReference(String step, long pages, SalvageProgress progress, EntryConsumer consumer)
            throws IOException {
        long done = 0;
        try (Cursor cursor = database.scan(Family.RECIPE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                progress.at(step, done++, pages);
                RecipePage page = RecipeFormat.decode(cursor.key(), cursor.value(), pageBytes);
                for (int entry = 0; entry < page.count(); entry++) {
                    if (!page.isZero(entry)) {
                        consumer.accept(page, entry);
                    }
                }
            }
        }
    }

    private void count(long pages, SalvageProgress progress) throws IOException {
        forEachReference("references", pages, progress, (page, entry) -> {
            long chunk = page.chunkId(entry);
            int slot = ChunkId.slot(chunk);
            int[] slots = references.computeIfAbsent(ChunkId.container(chunk), container -> new int[64]);
            if (slot >= slots.length) {
                slots = Arrays.copyOf(slots, Math.max(slot + 1, slots.length * 2));
                references.put(ChunkId.container(chunk), slots);
            }
            slots[slot]++;
            if (page.chunkOffset(entry) > 0) {
                continuations.merge(chunk, 1, Integer::sum);
            }
        });
    }

    /** Finds out what recipes tell of chunks without counts. */
    private void noteUnknown(TreeSet<Long> containers, LostRecords lost, long pages, SalvageProgress progress)
            throws IOException {
        TreeSet<Long> without = new TreeSet<>();
        for (long container : containers) {
            byte[] value = database.get(Family.COUNT, Keys.of(container));
            if (value == null || !isSound(container, value)) {
                without.add(container);
            }
            if (value != null && !isSound(container, value)) {
                lost.addRecord(Family.COUNT, Keys.of(container));
            }
        }
        if (without.isEmpty()) {
            return;
        }
        forEachReference("references to chunks without counts", pages, progress, (page, entry) -> {
            long chunk = page.chunkId(entry);
            if (without.contains(ChunkId.container(chunk))) {
                long[] known = unknown.computeIfAbsent(chunk, id -> new long[2]);
                known[0] = page.fingerprintPrefix(entry);
                known[1] = Math.max(known[1], (long) page.chunkOffset(entry) + page.length(entry));
            }
        });
        without.remove(lostContainer);
        lengths.prepare(without);
    }

    private static boolean isSound(long container, byte[] value) {
        try {
            CountRecord.decode(container, value, CountRecord.NO_GENERATION);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void correct(Batch batch, long container) throws IOException {
        byte[] value = database.get(Family.COUNT, Keys.of(container));
        CountRecord before = CountRecord.empty(CountRecord.NO_GENERATION);
        boolean isKnown = false;
        if (value != null && isSound(container, value)) {
            before = CountRecord.decode(container, value, CountRecord.NO_GENERATION);
            isKnown = true;
        }
        CountRecord right = before.copy(CountRecord.NO_GENERATION);
        int[] counted = references.getOrDefault(container, new int[0]);
        for (int slot = 0; slot < Math.max(counted.length, before.slots()); slot++) {
            set(right, container, slot, slot < counted.length ? counted[slot] : 0);
        }
        if (container == lostContainer) {
            right.markDamaged(0, 1);
        }
        stored = stored.plus(StoredCopies.of(right));
        byte[] encoded = right.encode();
        if (!isKnown && container != lostContainer) {
            remade++;
        }
        if (!Arrays.equals(encoded, value)) {
            batch.put(Family.COUNT, Keys.of(container), encoded);
        }
    }

    private void set(CountRecord record, long container, int slot, int references) throws IOException {
        if (record.isTombstone(slot)) {
            if (references > 0) {
                throw new CorruptionException(
                        "chunk " + container + ":" + slot,
                        -1,
                        "no reference to a chunk that was removed",
                        references + "; restore the newest backup instead");
            }
            return;
        }
        if (references > 0 && record.length(slot) == 0) {
            record.setLength(slot, length(container, slot));
        }
        int continued = continuations.getOrDefault(ChunkId.of(container, slot), 0) - record.continuations(slot);
        if (continued != 0) {
            record.addContinuation(container, slot, continued);
        }
        if (references != record.count(slot)) {
            record.add(container, slot, references - record.count(slot));
        }
    }

    private int length(long container, int slot) throws IOException {
        long[] known = unknown.getOrDefault(ChunkId.of(container, slot), new long[] {0, 0});
        if (container == lostContainer) {
            return (int) known[1];
        }
        int found = lengths.of(container, slot, (int) known[0]);
        return found > 0 ? found : (int) known[1];
    }
}
