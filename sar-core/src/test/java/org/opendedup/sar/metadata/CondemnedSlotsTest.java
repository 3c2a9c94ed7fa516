package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.StoredCopies;

/** Slots without references are condemned, and tombstoned unless a writer refers to them meanwhile. */
@Timeout(120)
final class CondemnedSlotsTest extends MetadataTest {
    /** Further parts that writers write as long as nothing is collected, at most. */
    private static final int MORE = 200;

    private static final int CONTAINERS = 3;
    private static final int WRITERS = 3;
    private static final int LENGTH = 1000;

    private ReferenceCounts counts = store.counts();

    CondemnedSlotsTest() throws IOException {}

    @Test
    void whatHasNoReferenceIsCondemnedAndNothingElse() throws IOException {
        store(0, 1);
        store(1, 0);
        store(3, 0);
        counts.markDamaged(5, 3, 4);
        store(5, 1);
        store(9, 0);
        assertEquals(slots(1, 2, 3, 4, 6, 7), counts.condemn(5, 8));
        assertTrue(counts.isReferable(chunk(0)));
        assertFalse(counts.isReferable(chunk(1)));
        assertTrue(counts.isAlive(chunk(1)), "garbage exists until it is a tombstone");
        assertTrue(counts.isReferable(chunk(9)), "not among the first 8");
        assertEquals(slots(), counts.condemn(6, 0));
        assertEquals(
                new StoredCopies(5 * LENGTH, 5, 3 * LENGTH, 3, 0),
                store.totals().stored());

        BitSet gone = counts.tombstoneCondemned(5);
        assertEquals(slots(1, 2, 3, 4, 6, 7), gone);
        assertEquals(slots(0, 5, 9), counts.alive(5));
        assertTrue(counts.isReferable(chunk(9)));
        assertEquals(
                new StoredCopies(3 * LENGTH, 3, LENGTH, 1, 0), store.totals().stored());
        for (int slot : gone.stream().toArray()) {
            assertThrows(IllegalStateException.class, () -> counts.add(chunk(slot), 1), "slot " + slot);
        }
        assertEquals(slots(), counts.condemn(5, 8), "a tombstone is not condemned again");
        assertEquals(slots(), counts.tombstoneCondemned(5));
        commit(Map.of(5L, SEALED));
        assertEquals(
                slots(0, 5, 9),
                MetadataStore.open(database, CACHE_BYTES).counts().alive(5));
    }

    @Test
    void whatGotAReferenceMeanwhileIsKept() throws IOException {
        store(0, 0);
        store(1, 0);
        assertEquals(slots(0, 1, 2), counts.condemn(5, 3));
        counts.add(chunk(0), 1);
        store(2, 1);
        assertFalse(counts.isReferable(chunk(0)), "still condemned");
        assertEquals(slots(1), counts.tombstoneCondemned(5));
        assertTrue(counts.isReferable(chunk(0)));
        assertTrue(counts.isReferable(chunk(2)), "its first reference came after its condemnation");
        assertEquals(new StoredCopies(2 * LENGTH, 2, 0, 0, 0), store.totals().stored());
    }

    /** A writer that knew the copy before referred to it, and took the reference away: it counts as young garbage. */
    @Test
    void whatGotAReferenceAndLostItMeanwhileIsKept() throws IOException {
        Set<Long> young = new TreeSet<>();
        counts.keep(young::contains);
        counts.listen(young::add);
        store(0, 0);
        store(1, 0);
        assertEquals(slots(0, 1), counts.condemn(5, 2));
        counts.add(chunk(0), 1);
        counts.add(chunk(0), -1);
        assertEquals(slots(1), counts.tombstoneCondemned(5), "control: the other one goes");
        assertTrue(counts.isReferable(chunk(0)));
        counts.add(chunk(0), 1);
    }

    @Test
    void aTombstoneIsNotMarkedAsDamaged() throws IOException {
        store(0, 1);
        store(1, 0);
        store(2, 1);
        counts.condemn(5, 3);
        counts.tombstoneCondemned(5);
        assertTrue(counts.markDamaged(5, 0, 2));
        assertFalse(counts.markDamaged(5, 0, 2), "a tombstone would be marked again each time");
        PresentRecords.forEachCounted(store, (container, found) -> {
            assertTrue(found.isDamaged(0));
            assertFalse(found.isDamaged(1));
        });
        assertTrue(counts.isReferable(chunk(2)));
    }

    @Test
    void writersNeverMeetATombstoneIfTheCollectorWaitsForThem() throws Exception {
        long seed = TestSeed.next();
        GracePeriod period = new GracePeriod();
        collectWhileWriting(seed, 400, period, period::await);
    }

    @Test
    void controlWritersMeetTombstonesIfTheCollectorDoesNotWait() throws Exception {
        long seed = TestSeed.next();
        int met = 0;
        for (int run = 0; run < 200 && met == 0; run++) {
            database = new CrashKeyValueStore();
            store = MetadataStore.format(database, HEADER);
            counts = store.counts();
            try {
                collectWhileWriting(seed + run, 400, new GracePeriod(), () -> {});
            } catch (ExecutionException e) {
                assertTrue(e.getMessage().contains("is tombstoned"), e.getMessage());
                met++;
            }
        }
        assertTrue(met > 0, "a collector that does not wait was not noticed");
    }

    @FunctionalInterface
    private interface Waiting {
        void await() throws IOException;
    }

    /**
     * Writers store chunks, refer to those that are referable, and drop references, while a collector tombstones what
     * has none and generations are committed. Checks the counts at the end.
     */
    private void collectWhileWriting(long seed, int rounds, GracePeriod period, Waiting waiting) throws Exception {
        commit(Map.of(1L, SEALED, 2L, SEALED, 3L, SEALED));
        ReadWriteLock lock = new ReentrantReadWriteLock();
        AtomicInteger stored = new AtomicInteger();
        AtomicInteger writing = new AtomicInteger(WRITERS);
        AtomicInteger collected = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<List<Long>>> writers = new ArrayList<>();
        try {
            for (int i = 0; i < WRITERS; i++) {
                Random random = new Random(seed + i);
                writers.add(threads.submit(() -> {
                    try {
                        List<Long> held = write(random, 10 * rounds, period, lock, stored);
                        // A busy machine may have let the collector run too late.
                        for (int more = 0; more < MORE && collected.get() == 0; more++) {
                            held.addAll(write(random, rounds, period, lock, stored));
                        }
                        return held;
                    } finally {
                        writing.decrementAndGet();
                    }
                }));
            }
            Future<Void> collector = threads.submit((Callable<Void>) () -> {
                Random random = new Random(seed + WRITERS);
                while (writing.get() > 0) {
                    long container = 1 + random.nextInt(CONTAINERS);
                    // Not the newest ones: a collector knows that a container is complete.
                    BitSet condemned = counts.condemn(container, Math.max(0, stored.get() / CONTAINERS - 10));
                    waiting.await();
                    if (random.nextInt(8) == 0) {
                        counts.pardon(container);
                        continue;
                    }
                    lock.readLock().lock();
                    try {
                        BitSet gone = counts.tombstoneCondemned(container);
                        collected.addAndGet(gone.cardinality());
                        gone.andNot(condemned);
                        assertTrue(gone.isEmpty(), "tombstones that were not condemned");
                    } finally {
                        lock.readLock().unlock();
                    }
                }
                return null;
            });
            Future<Void> committer = threads.submit((Callable<Void>) () -> {
                while (writing.get() > 0) {
                    lock.writeLock().lock();
                    Generation frozen;
                    try {
                        frozen = store.freeze();
                    } finally {
                        lock.writeLock().unlock();
                    }
                    store.commit(frozen);
                }
                return null;
            });
            int[][] references = new int[CONTAINERS + 1][(10 + MORE) * rounds * WRITERS];
            for (Future<List<Long>> writer : writers) {
                for (long chunk : writer.get()) {
                    references[(int) ChunkId.container(chunk)][ChunkId.slot(chunk)]++;
                }
            }
            var unused = collector.get();
            assertTrue(collected.get() > 0, "nothing was collected");
            committer.get();
            commit(Map.of(5L, SEALED));
            assertCounts(store, references);
            assertCounts(MetadataStore.open(database, CACHE_BYTES), references);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Returns the references that the writer holds at its end. */
    private List<Long> write(Random random, int rounds, GracePeriod period, ReadWriteLock lock, AtomicInteger stored)
            throws IOException {
        List<Long> held = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            if (!held.isEmpty() && random.nextInt(2) == 0) {
                long dropped = held.remove(random.nextInt(held.size()));
                change(lock, dropped, -1);
                continue;
            }
            try (GracePeriod.Use use = period.begin()) {
                boolean isNew = random.nextInt(4) == 0 || stored.get() < 10;
                int number = isNew ? stored.getAndIncrement() : random.nextInt(stored.get());
                long chunk = ChunkId.of(1 + number % CONTAINERS, number / CONTAINERS);
                if (isNew) {
                    lock.readLock().lock();
                    try {
                        counts.addNew(chunk, LENGTH, 0);
                    } finally {
                        lock.readLock().unlock();
                    }
                }
                if (isNew || counts.isReferable(chunk)) {
                    Thread.yield();
                    change(lock, chunk, 1);
                    held.add(chunk);
                }
            }
        }
        return held;
    }

    private void change(ReadWriteLock lock, long chunk, int delta) throws IOException {
        lock.readLock().lock();
        try {
            counts.add(chunk, delta);
        } finally {
            lock.readLock().unlock();
        }
    }

    private static void assertCounts(MetadataStore store, int[][] references) throws IOException {
        StoredCopies[] sum = {StoredCopies.NONE};
        PresentRecords.forEachCounted(store, (container, found) -> {
            sum[0] = sum[0].plus(StoredCopies.of(found));
            for (int slot = 0; slot < references[(int) container].length; slot++) {
                assertEquals(references[(int) container][slot], found.count(slot), container + ":" + slot);
            }
        });
        assertEquals(sum[0], store.totals().stored());
        assertTrue(sum[0].chunks() > 0);
    }

    /** Stores a chunk in container 5. */
    private void store(int slot, int references) throws IOException {
        counts.addNew(chunk(slot), LENGTH, 0);
        counts.add(chunk(slot), references);
    }

    private static long chunk(int slot) {
        return ChunkId.of(5, slot);
    }

    private static BitSet slots(int... slots) {
        BitSet set = new BitSet();
        for (int slot : slots) {
            set.set(slot);
        }
        return set;
    }
}
