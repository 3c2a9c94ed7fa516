package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.StoredCopies;

final class ContainerTableTest extends MetadataTest {
    ContainerTableTest() throws IOException {}

    @Test
    void aContainerIsNotStoredAndRemovedAtOnce() {
        assertThrows(IllegalArgumentException.class, () -> new ContainerChanges(Map.of(7L, OPEN), Set.of(7L)));
    }

    /** Also without a container that is stored or removed; only the estimate assumes that all chunks compress alike. */
    @Test
    void garbageIsWhatNoRecipeRefersToOfSealedContainers() throws IOException {
        ContainerEntry half = new ContainerEntry(5, SEALED, SEALED.rawBytes() / 2, 0);
        assertEquals(SEALED.bytes() / 2, half.garbageBytes());
        assertEquals(0, new ContainerEntry(5, SEALED, SEALED.rawBytes(), 0).garbageBytes());
        assertEquals(0, new ContainerEntry(5, SEALED, 2 * SEALED.rawBytes(), 0).garbageBytes(), "never less than 0");
        assertEquals(0, new ContainerEntry(5, OPEN, 0, 0).garbageBytes());

        reference(5, 0, (int) SEALED.rawBytes() / 2);
        commit(Map.of(5L, SEALED, 6L, SEALED, 7L, OPEN));
        assertGarbage(SEALED.bytes() / 2 + SEALED.bytes());
        store.counts().add(ChunkId.of(5, 0), -1);
        assertEquals(SEALED.bytes() / 2 + SEALED.bytes(), store.containers().garbageBytes(), "not committed");
        commit(Map.of());
        assertGarbage(2 * SEALED.bytes());
        tombstoneAll(5);
        commit(Map.of());
        assertGarbage(2 * SEALED.bytes());
        commit(Map.of(), 5L);
        assertGarbage(SEALED.bytes());
    }

    private void assertGarbage(long bytes) throws IOException {
        for (MetadataStore each : List.of(store, MetadataStore.open(database, CACHE_BYTES))) {
            assertEquals(bytes, each.containers().garbageBytes());
        }
    }

    @Test
    void liveBytesCountNeitherGarbageNorTombstones() throws IOException {
        reference(5, 0, 100);
        reference(5, 1, 50);
        reference(5, 2, 7);
        assertEquals(0, store.totals().stored().damagedChunks());
        store.counts().markDamaged(5, 1, 2);
        store.counts().markDamaged(5, 1, 3);
        assertEquals(2, store.totals().stored().damagedChunks(), "slot 1 counts once");
        commit(Map.of(5L, OPEN));
        store.counts().add(ChunkId.of(5, 0), -1);
        store.counts().add(ChunkId.of(5, 1), -1);
        assertEquals(new StoredCopies(157, 3, 150, 2, 1), store.totals().stored());
        commit(Map.of());
        assertEquals(List.of(new ContainerEntry(5, OPEN, 7, 2)), entries(store), "garbage");
        tombstoneAll(5);
        assertEquals(new StoredCopies(7, 1, 0, 0, 1), store.totals().stored());
        commit(Map.of(5L, SEALED));
        assertEquals(List.of(new ContainerEntry(5, SEALED, 7, 1)), entries(store), "tombstones, in a new place");
        commit(Map.of(5L, OPEN));
        for (MetadataStore each : List.of(store, MetadataStore.open(database, CACHE_BYTES))) {
            assertEquals(List.of(new ContainerEntry(5, OPEN, 7, 1)), entries(each), "in a generation without counts");
            assertEquals(new StoredCopies(7, 1, 0, 0, 1), each.totals().stored());
        }
    }

    @Test
    void aRemovedContainerWithoutChunksLosesItsCounts() throws IOException {
        for (long container = 5; container <= 6; container++) {
            reference(container, 0, 100);
            commit(Map.of(container, SEALED));
            store.counts().add(ChunkId.of(container, 0), -1);
        }
        tombstoneAll(5);
        commit(Map.of(), 5L);
        assertNull(database.get(Family.COUNT, Keys.of(5)), "the record was in the same batch");

        tombstoneAll(6);
        commit(Map.of());
        assertNotNull(database.get(Family.COUNT, Keys.of(6)), "the control: its tombstones count until it is removed");
        commit(Map.of(), 6L);
        assertNull(database.get(Family.COUNT, Keys.of(6)), "the record was in the database");
        assertEquals(StoredCopies.NONE, store.totals().stored());
        MetadataStore found = MetadataStore.open(database, CACHE_BYTES);
        assertEquals(StoredCopies.NONE, found.totals().stored());
        PresentRecords.forEachCounted(found, (container, counts) -> fail("container " + container + " has counts"));
    }

    @Test
    void noLaterChangeBringsTheCountsOfARemovedContainerBack() throws IOException {
        reference(5, 0, 100);
        commit(Map.of(5L, SEALED));
        store.counts().add(ChunkId.of(5, 0), -1);
        tombstoneAll(5);
        Generation frozen = store.freeze();
        touchRemoved(5);
        store.commit(frozen, new ContainerChanges(Map.of(), Set.of(5L)));
        commit(Map.of());
        assertNull(database.get(Family.COUNT, Keys.of(5)), "changed before the removal was committed");
        touchRemoved(5);
        commit(Map.of());
        assertNull(database.get(Family.COUNT, Keys.of(5)), "changed after it");
        store = MetadataStore.open(database, CACHE_BYTES);
        store.counts().markDamaged(5, 0, 2);
        commit(Map.of());
        assertNull(database.get(Family.COUNT, Keys.of(5)), "changed after reopening");
    }

    private void touchRemoved(long container) throws IOException {
        assertFalse(store.counts().markDamaged(container, 0, 20));
        store.addToTotals(0, 1); // so that something is written
        assertThrows(IllegalStateException.class, () -> store.counts().add(ChunkId.of(container, 0), 1));
        assertTrue(store.counts().condemn(container, 12).isEmpty());
        assertTrue(store.counts().tombstoneCondemned(container).isEmpty());
    }

    @Test
    void aContainerWithChunksIsNotRemoved() throws IOException {
        reference(5, 0, 100);
        commit(Map.of(5L, SEALED));
        store.counts().add(ChunkId.of(5, 0), -1);
        int batches = database.batches();
        Generation frozen = store.freeze();
        ContainerChanges removal = new ContainerChanges(Map.of(6L, OPEN), Set.of(5L));
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> store.commit(frozen, removal));
        assertTrue(e.getMessage().contains("container 5"), e.getMessage());
        assertEquals(batches, database.batches(), "nothing was written");
        assertEquals(List.of(new ContainerEntry(5, SEALED, 100, 0)), entries(store));
        store.commit(frozen, new ContainerChanges(Map.of(6L, OPEN), Set.of()));
        assertEquals(List.of(new ContainerEntry(5, SEALED, 0, 0), entry(6, OPEN)), entries(store));
        assertThrows(IllegalStateException.class, () -> commit(Map.of(), 5L), "garbage is a chunk too");
    }

    /** Recovery removes a container of which it found no whole frame; files still refer to its chunks. */
    @Test
    void aRemovedContainerKeepsItsCountsUntilNoFileRefersToIt() throws IOException {
        reference(5, 0, 100);
        reference(5, 1, 50);
        commit(Map.of(5L, OPEN));
        store.counts().markDamaged(5, 0, 2);
        commit(Map.of(), 5L);
        assertEquals(List.of(), entries(store));
        assertNotNull(database.get(Family.COUNT, Keys.of(5)));
        store.counts().add(ChunkId.of(5, 0), -1);
        tombstoneAll(5);
        commit(Map.of());
        assertEquals(1, MetadataStore.open(database, CACHE_BYTES).counts().count(ChunkId.of(5, 1)));
        store.counts().add(ChunkId.of(5, 1), -1);
        tombstoneAll(5);
        commit(Map.of());
        assertNull(database.get(Family.COUNT, Keys.of(5)));
        assertEquals(StoredCopies.NONE, store.totals().stored());
    }

    @Test
    void anEmptyGenerationIsWrittenIfAContainerChanged() throws IOException {
        int batches = database.batches();
        commit(Map.of());
        assertEquals(batches, database.batches());
        commit(Map.of(5L, SEALED));
        assertEquals(batches + 1, database.batches());
    }

    /** Most counts that change stay above zero: a chunk gets its second reference. */
    @Test
    void anEntryIsWrittenOnlyIfItChanged() throws IOException {
        reference(5, 0, 100);
        commit(Map.of(5L, SEALED));
        List<Family> written = new ArrayList<>();
        MetadataStore watched = MetadataStore.open(
                new HookedKeyValueStore<>(database) {
                    @Override
                    protected void put(Batch batch, Family family, byte[] key, byte[] value) throws IOException {
                        written.add(family);
                        super.put(batch, family, key, value);
                    }
                },
                CACHE_BYTES);
        watched.counts().add(ChunkId.of(5, 0), 1);
        watched.commit(watched.freeze());
        assertEquals(List.of(Family.COUNT), written);
        watched.counts().add(ChunkId.of(5, 0), -2);
        watched.commit(watched.freeze());
        assertTrue(written.contains(Family.CONTAINER), "the control: " + written);
    }

    @Test
    void openingReadsTheSameFewRecordsOfAMillionContainers() throws IOException {
        CountingKeyValueStore counting = new CountingKeyValueStore(new HeapKeyValueStore());
        MetadataStore large = MetadataStore.format(counting, HEADER);
        List<ContainerEntry> open = List.of(entry(3, OPEN), entry(500_000, OPEN), entry(999_999, OPEN));
        int reads = readsOfOpening(counting, 0);
        Map<Long, StoredContainer> part = new HashMap<>();
        for (long container = 1; container <= 1_000_000; container++) {
            part.put(container, SEALED);
            if (part.size() == 100_000) {
                open.stream()
                        .filter(entry -> part.containsKey(entry.container()))
                        .forEach(entry -> part.put(entry.container(), OPEN));
                large.commit(large.freeze(), new ContainerChanges(part, Set.of()));
                part.clear();
            }
        }
        assertEquals(reads, readsOfOpening(counting, 1_000_000));

        MetadataStore opened = MetadataStore.open(counting, CACHE_BYTES);
        counting.reset();
        assertEquals(open, openEntries(opened));
        assertEquals(open.size(), counting.reads(Family.CONTAINER));
        assertEquals(0, counting.reads(Family.SYSTEM));
        opened.containers().forEach(entry -> {});
        assertTrue(counting.reads(Family.CONTAINER) > 1_000_000, "the control: a scan is counted");
    }

    private static int readsOfOpening(CountingKeyValueStore counting, long containers) throws IOException {
        counting.reset();
        assertEquals(
                containers,
                MetadataStore.open(counting, CACHE_BYTES).containers().containers());
        assertEquals(0, counting.reads(Family.CONTAINER));
        return counting.reads(Family.SYSTEM);
    }

    @Test
    void aListOfOpenContainersThatTheTableContradictsIsDamage() throws IOException {
        commit(Map.of(5L, OPEN, 6L, OPEN));
        MetadataDefects.put(database, Family.CONTAINER, Keys.of(5), ContainerEntry.encode(entry(5, SEALED)));
        CorruptionException e = assertThrows(CorruptionException.class, () -> openEntries(store));
        assertTrue(e.getMessage().contains("container 5"), e.getMessage());
        MetadataDefects.remove(database, Family.CONTAINER, Keys.of(5));
        assertThrows(CorruptionException.class, () -> openEntries(store));
    }

    @Test
    void aDamagedEntryIsNamedAndFailsNoCommit() throws IOException {
        reference(5, 0, 100);
        reference(6, 0, 50);
        reference(7, 0, 10);
        commit(Map.of(5L, SEALED, 6L, OPEN, 7L, SEALED));
        byte[] sound = database.get(Family.CONTAINER, Keys.of(5));
        byte[] damaged = {ContainerEntry.VERSION, 5};
        for (long container = 5; container <= 7; container++) {
            MetadataDefects.put(database, Family.CONTAINER, Keys.of(container), damaged);
        }
        CorruptionException e =
                assertThrows(CorruptionException.class, () -> store.containers().get(5));
        assertTrue(e.getMessage().contains("container 5"), e.getMessage());
        store.counts().add(ChunkId.of(5, 0), -1);
        store.counts().add(ChunkId.of(7, 0), -1);
        tombstoneAll(7);
        commit(Map.of(6L, SEALED), 7L);
        assertArrayEquals(damaged, database.get(Family.CONTAINER, Keys.of(5)), "for a repair");
        assertNull(database.get(Family.CONTAINER, Keys.of(7)));
        MetadataDefects.put(database, Family.CONTAINER, Keys.of(5), sound);
        store.counts().add(ChunkId.of(6, 0), 1);
        commit(Map.of());
        assertEquals(new ContainerEntry(5, SEALED, 0, 0), entries(store).get(0), "as soon as it can be read");
        store = MetadataStore.open(database, CACHE_BYTES);
        assertEquals(0, store.counts().count(ChunkId.of(5, 0)), "what the commit had besides");
        assertEquals(SEALED, store.containers().get(6));
        assertEquals(List.of(), openEntries(store));
        assertNotNull(ContainerRecords.open(database).summaryProblem(new ContainerRecords.Sum()), "a check tells it");
    }

    /** A disk may take seconds for each block that it does not return, and writers wait for the commit. */
    @Test
    void aCommitTriesOneOfTheEntriesThatCouldNotBeReadBefore() throws IOException {
        Map<Long, StoredContainer> stored = new HashMap<>();
        for (long container = 1; container <= 30; container++) {
            reference(container, 0, 100);
            stored.put(container, SEALED);
        }
        commit(stored);
        long[] firstSound = {21};
        List<Long> tried = new ArrayList<>();
        store = MetadataStore.open(
                new HookedKeyValueStore<>(database) {
                    @Override
                    public byte[] get(Family family, byte[] key) throws IOException {
                        if (family == Family.CONTAINER && Keys.longAt(key, 0) < firstSound[0]) {
                            tried.add(Keys.longAt(key, 0));
                            throw new IOException("metadata database: While pread: Input/output error");
                        }
                        return super.get(family, key);
                    }
                },
                CACHE_BYTES);
        for (long container = 1; container <= 20; container++) {
            store.counts().add(ChunkId.of(container, 0), -1);
        }
        commit(Map.of());
        assertEquals(40, tried.size(), "each is wanted, and read twice");
        tried.clear();
        for (int commits = 0; commits < 3; commits++) {
            store.counts().add(ChunkId.of(30, 0), 1);
            commit(Map.of());
        }
        assertEquals(3, Set.copyOf(tried).size(), tried::toString);
        assertEquals(3, tried.size(), tried::toString);
        // The others are not held up by those that stay unreadable.
        firstSound[0] = 2;
        for (int commits = 0; commits < 2; commits++) {
            store.counts().add(ChunkId.of(30, 0), 1);
            commit(Map.of());
        }
        for (long container = 2; container <= 20; container++) {
            assertEquals(
                    new ContainerEntry(container, SEALED, 0, 0), entries(store).get((int) container - 1));
        }
    }

    /** Then nothing is known about the entry. */
    @Test
    void anEntryThatCouldNotBeAskedForFailsTheCommit() throws IOException {
        reference(5, 0, 100);
        commit(Map.of(5L, SEALED));
        boolean[] fails = {true};
        store = MetadataStore.open(
                new HookedKeyValueStore<>(database) {
                    @Override
                    public byte[] get(Family family, byte[] key) throws IOException {
                        if (fails[0] && family == Family.CONTAINER) {
                            throw new IOException("metadata database: Too many open files");
                        }
                        return super.get(family, key);
                    }
                },
                CACHE_BYTES);
        store.counts().add(ChunkId.of(5, 0), -1);
        Generation frozen = store.freeze();
        assertThrows(IOException.class, () -> store.commit(frozen));
        fails[0] = false;
        store.commit(frozen);
        assertEquals(List.of(new ContainerEntry(5, SEALED, 0, 0)), entries(store));
    }

    private static List<ContainerEntry> entries(MetadataStore store) throws IOException {
        List<ContainerEntry> entries = new ArrayList<>();
        store.containers().forEach(entries::add);
        return entries;
    }

    private static List<ContainerEntry> openEntries(MetadataStore store) throws IOException {
        List<ContainerEntry> entries = new ArrayList<>();
        store.containers().forEachOpen(entries::add);
        return entries;
    }

    private static ContainerEntry entry(long container, StoredContainer stored) {
        return new ContainerEntry(container, stored, 0, 0);
    }
}
