package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Compares the container table with a recount of all count records, over random changes, tombstones, removals, failed
 * commits, retries with more changes, and crashes.
 */
final class ContainerTableModelTest {
    private static final int PAGE_BYTES = 65536;
    private static final long CACHE_BYTES = 100_000;
    /** Containers that recipes refer to, and some that only {@link #changeUnlisted} refers to. */
    private static final int CONTAINERS = 12;

    private static final int FIRST_UNLISTED = 9;
    private static final int SLOTS = 4000;
    private static final String DIFFERS = "the table differs from a recount";
    private static final StoredContainer PLACE = new StoredContainer(Writing.UNKNOWN, State.SEALED, 0, 0, 100, 1, 200);

    private CrashKeyValueStore database = new CrashKeyValueStore();
    private SplittingKeyValueStore splitting = new SplittingKeyValueStore(database);
    /** Whether the control writes the table in a batch of its own. */
    private boolean isSplit;

    private MetadataStore store = MetadataStore.format(database, header());
    /** The committed places. */
    private Map<Long, StoredContainer> places = new HashMap<>();
    /** The containers without a sound copy in the generation that is frozen. */
    private Set<Long> removable = new HashSet<>();
    /** The slot of the next chunk of a container that no recipe refers to: each is used once. */
    private int nextSlot;
    /** How many count records commits deleted. */
    private int deletedCounts;

    ContainerTableModelTest() throws IOException {}

    @Test
    void theTableEqualsARecountOverFailedCommitsAndCrashes() throws IOException {
        long seed = TestSeed.next();
        for (int run = 0; run < 30; run++) {
            start(false);
            run(new Random(seed + run));
        }
        assertTrue(deletedCounts > 0, "no removal was seen");
    }

    @Test
    void controlATableInABatchOfItsOwnIsFoundOut() throws IOException {
        int found = 0;
        for (int seed = 0; seed < 10; seed++) {
            start(true);
            try {
                run(new Random(seed));
            } catch (AssertionError | CorruptionException e) {
                String message = String.valueOf(e.getMessage());
                found += message.contains(DIFFERS) || message.contains("the list of open ones") ? 1 : 0;
            }
        }
        assertTrue(found > 0, "a table that does not follow the counts was not noticed");
    }

    private void start(boolean split) throws IOException {
        isSplit = split;
        places = new HashMap<>();
        nextSlot = 0;
        CrashKeyValueStore empty = new CrashKeyValueStore();
        MetadataStore.format(empty, header());
        open(empty);
    }

    private void open(CrashKeyValueStore found) throws IOException {
        database = found;
        splitting = new SplittingKeyValueStore(found);
        store = MetadataStore.open(isSplit ? splitting : found, CACHE_BYTES);
    }

    private void run(Random random) throws IOException {
        for (int life = 0; life < 6; life++) {
            for (int commits = random.nextInt(5); commits > 0; commits--) {
                changeCounts(random, 1 + random.nextInt(30));
                commitAndChange(random);
            }
            Map<Long, StoredContainer> perhaps = places;
            changeCounts(random, 1 + random.nextInt(30));
            if (random.nextBoolean()) {
                perhaps = failToCommit(freeze(), changes(random));
            }
            open(database.crash(random.nextLong()));
            if (places(store).equals(perhaps)) {
                places = perhaps;
            }
            check();
        }
    }

    private void commitAndChange(Random random) throws IOException {
        Generation frozen = freeze();
        ContainerChanges changes = changes(random);
        boolean changing = random.nextBoolean();
        if (changing) {
            changeCounts(random, 5);
        }
        if (random.nextInt(3) == 0) {
            failToCommit(frozen, changes);
            changes = more(random, changes);
        }
        store.commit(frozen, changes);
        places = after(changes);
        for (long container : changes.removed()) {
            assertTrue(removable.contains(container));
            deletedCounts += frozen.counts(container) != null && !has(Family.COUNT, container) ? 1 : 0;
        }
        if (changing) {
            store.commit(store.freeze());
        }
        check();
    }

    private Generation freeze() throws IOException {
        removable = new HashSet<>();
        for (long container = 1; container <= CONTAINERS; container++) {
            removable.add(container);
        }
        PresentRecords.forEachCounted(store, (container, counts) -> {
            for (int slot = 0; slot < counts.slots(); slot++) {
                if (counts.isAlive(slot) && !counts.isDamaged(slot)) {
                    removable.remove(container);
                }
            }
        });
        return store.freeze();
    }

    private boolean has(Family family, long container) throws IOException {
        return database.get(family, Keys.of(container)) != null;
    }

    /** Returns the places in case a crash keeps the failed batch. */
    private Map<Long, StoredContainer> failToCommit(Generation frozen, ContainerChanges changes) {
        if (isSplit) {
            splitting.failNextSecond();
        } else {
            database.failNextCommits(1);
        }
        assertThrows(IOException.class, () -> store.commit(frozen, changes));
        return after(changes);
    }

    private void changeCounts(Random random, int changes) throws IOException {
        for (int i = 0; i < changes; i++) {
            long container = 1 + random.nextInt(CONTAINERS);
            switch (random.nextInt(8)) {
                case 0 -> {
                    int slot = random.nextInt(SLOTS - 5);
                    store.counts().markDamaged(container, slot, slot + 1 + random.nextInt(5));
                }
                case 1, 3 -> changeUnlisted(FIRST_UNLISTED + random.nextInt(CONTAINERS - FIRST_UNLISTED + 1), random);
                case 2 -> Recipes.removePages(store, 1 + random.nextInt(6), 0, 2);
                default -> replacePage(random);
            }
        }
        store.addToTotals(0, 1); // an empty generation has nothing that could fail
    }

    private void changeUnlisted(long container, Random random) throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> {
                long chunk = ChunkId.of(container, nextSlot++);
                store.counts().addNew(chunk, 1 + random.nextInt(1000), 0);
                store.counts().add(chunk, random.nextInt(2));
            }
            case 1 -> {
                BitSet alive = store.counts().alive(container);
                for (int slot = alive.nextSetBit(0); slot >= 0; slot = alive.nextSetBit(slot + 1)) {
                    long chunk = ChunkId.of(container, slot);
                    store.counts().add(chunk, -store.counts().count(chunk));
                }
            }
            case 2 -> {
                store.counts().condemn(container, nextSlot);
                store.counts().tombstoneCondemned(container);
            }
            default -> store.counts().markDamaged(container, 0, nextSlot);
        }
    }

    private void replacePage(Random random) throws IOException {
        RecipePage page = Recipes.random(random, PAGE_BYTES, 20);
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry) && !store.counts().isAlive(page.chunkId(entry))) {
                store.counts().addNew(page.chunkId(entry), 1 + random.nextInt(100_000), 0);
            }
        }
        store.recipes().replace(1 + random.nextInt(6), random.nextInt(4), page);
    }

    private ContainerChanges changes(Random random) {
        return more(random, ContainerChanges.NONE);
    }

    /** Returns the changes with further ones. */
    private ContainerChanges more(Random random, ContainerChanges changes) {
        Map<Long, StoredContainer> stored = new HashMap<>(changes.stored());
        Set<Long> removed = new HashSet<>(changes.removed());
        for (int i = random.nextInt(4); i > 0; i--) {
            long container = 1 + random.nextInt(CONTAINERS);
            if (!removable.contains(container) || random.nextInt(4) > 0) {
                stored.put(container, random.nextInt(4) > 0 ? place(random) : places.getOrDefault(container, PLACE));
                removed.remove(container);
            } else {
                stored.remove(container);
                removed.add(container);
            }
        }
        return new ContainerChanges(stored, removed);
    }

    private static StoredContainer place(Random random) {
        return new StoredContainer(
                new Writing(random.nextLong(), 1 + random.nextInt(3)),
                random.nextBoolean() ? State.OPEN : State.SEALED,
                random.nextInt(100),
                4096L * random.nextInt(1 << 20),
                random.nextInt(1 << 22),
                random.nextInt(400),
                random.nextInt(1 << 23));
    }

    private Map<Long, StoredContainer> after(ContainerChanges changes) {
        Map<Long, StoredContainer> after = new HashMap<>(places);
        after.putAll(changes.stored());
        after.keySet().removeAll(changes.removed());
        return after;
    }

    private static Map<Long, StoredContainer> places(MetadataStore store) throws IOException {
        Map<Long, StoredContainer> found = new HashMap<>();
        store.containers().forEach(entry -> found.put(entry.container(), entry.stored()));
        return found;
    }

    /**
     * Checks the table against the places and a recount, and that no record has only tombstones and no place. All
     * changes must be committed.
     */
    private void check() throws IOException {
        Map<Long, ContainerEntry> expected = new TreeMap<>();
        places.forEach((container, place) -> expected.put(container, new ContainerEntry(container, place, 0, 0)));
        PresentRecords.forEachCounted(
                store,
                (container, counts) ->
                        expected.computeIfPresent(container, (id, entry) -> recount(id, entry.stored(), counts)));
        PresentRecords.forEachCounted(
                store,
                (container, counts) -> assertTrue(
                        places.containsKey(container)
                                || IntStream.range(0, counts.slots()).anyMatch(slot -> !counts.isTombstone(slot)),
                        () -> "container " + container + " is removed and has counts"));
        List<ContainerEntry> found = new ArrayList<>();
        store.containers().forEach(found::add);
        assertEquals(List.copyOf(expected.values()), found, DIFFERS);

        List<ContainerEntry> open = new ArrayList<>();
        store.containers().forEachOpen(open::add);
        assertEquals(
                found.stream()
                        .filter(entry -> entry.stored().state() == State.OPEN)
                        .toList(),
                open);
        assertEquals(found.size(), store.containers().containers());
        assertEquals(
                found.stream().mapToLong(entry -> entry.stored().bytes()).sum(),
                store.containers().storedBytes());
        assertEquals(
                found.stream().mapToLong(ContainerEntry::garbageBytes).sum(),
                store.containers().garbageBytes());
        for (long container = 1; container <= CONTAINERS; container++) {
            assertEquals(places.get(container), store.containers().get(container));
        }
    }

    private static ContainerEntry recount(long container, StoredContainer place, ContainerCounts counts) {
        long liveBytes = 0;
        int damaged = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            liveBytes += counts.count(slot) > 0 ? counts.length(slot) : 0;
            damaged += counts.isDamaged(slot) ? 1 : 0;
        }
        return new ContainerEntry(container, place, liveBytes, damaged);
    }

    private static MetadataHeader header() {
        return new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 3, MetadataHeader.FORMAT_VERSION);
    }

    /** Writes the container table in a batch of its own, after the batch with everything else. */
    private static final class SplittingKeyValueStore extends HookedKeyValueStore<CrashKeyValueStore> {
        private boolean secondFails;

        SplittingKeyValueStore(CrashKeyValueStore store) {
            super(store);
        }

        void failNextSecond() {
            secondFails = true;
        }

        @Override
        public Batch batch() throws IOException {
            Batch first = store.batch();
            Batch second = store.batch();
            return new Batch() {
                private Batch of(Family family) {
                    return family == Family.CONTAINER ? second : first;
                }

                @Override
                public void put(Family family, byte[] key, byte[] value) throws IOException {
                    of(family).put(family, key, value);
                }

                @Override
                public void delete(Family family, byte[] key) throws IOException {
                    of(family).delete(family, key);
                }

                @Override
                public void commit() throws IOException {
                    first.commit();
                    if (secondFails) {
                        secondFails = false;
                        store.failNextCommits(1);
                    }
                    second.commit();
                }

                @Override
                public void close() {
                    first.close();
                    second.close();
                }
            };
        }
    }
}
