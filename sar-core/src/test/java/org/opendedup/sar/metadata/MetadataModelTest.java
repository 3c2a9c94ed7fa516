package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;

/** Compares random changes, commits, failures, crashes and reopenings with {@link MetadataModel}. */
final class MetadataModelTest {
    static final int PAGE_BYTES = 65536;
    private static final int FILE = 0100000;
    /** Those that {@link Recipes#random} refers to. */
    private static final int CONTAINERS = 8;

    private static final long[] CACHE_BYTES = {0, 200_000, 10_000_000};

    @Test
    void everythingReadsAsInTheModelOverCrashesAndFailedCommits() throws IOException {
        long seed = TestSeed.next();
        for (int run = 0; run < 12; run++) {
            runWithCrashes(new Random(seed + run), false);
        }
    }

    @Test
    void controlACommitThatIsNotDurableIsFoundOut() throws IOException {
        int found = 0;
        for (int seed = 0; seed < 5; seed++) {
            try {
                runWithCrashes(new Random(seed), true);
            } catch (CorruptionException refused) {
                // The database is refused: that is not what is looked for.
            } catch (AssertionError lost) {
                found += String.valueOf(lost.getMessage()).startsWith(MetadataModel.DIFFERS) ? 1 : 0;
            }
        }
        assertTrue(found > 0, "lost commits were not noticed");
    }

    @Test
    void everythingReadsAsInTheModelOverReopeningsOfRocksDb(@TempDir Path folder) throws IOException {
        Random random = new Random(TestSeed.next());
        Path database = folder.resolve("metadata");
        MetadataModel model = new MetadataModel();
        MetadataStore store = format(KeyValueStores.openRocksDb(database, 16 << 20, true));
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 6; i++) {
                change(random, store, model, 100);
                commit(store);
                model.check(store);
            }
            store.close();
            store = MetadataStore.open(KeyValueStores.openRocksDb(database, 16 << 20, false), 200_000);
            model.condemned.clear();
            model.check(store);
        }
        store.close();
    }

    /** With {@code control} commits are not durable: then a check must fail sooner or later. */
    private static void runWithCrashes(Random random, boolean control) throws IOException {
        CrashKeyValueStore database = new CrashKeyValueStore();
        MetadataStore store = format(database);
        MetadataModel model = new MetadataModel();
        for (int life = 0; life < 6; life++) {
            database.setCommitIsNotDurable(control);
            MetadataModel committed = model.copy();
            for (int i = random.nextInt(5); i > 0; i--) {
                change(random, store, model, 1 + random.nextInt(60));
                committed = commitWhileChanging(random, store, model);
            }
            change(random, store, model, random.nextInt(20));
            MetadataModel perhaps = committed;
            if (random.nextBoolean()) {
                failToCommit(database, store, model);
                perhaps = model.copy();
            }
            database = database.crash(random.nextLong());
            store = MetadataStore.open(database, CACHE_BYTES[random.nextInt(CACHE_BYTES.length)]);
            model = perhaps.matches(store) ? perhaps : committed;
            model.check(store);
        }
    }

    /** Returns the model of the committed contents. */
    private static MetadataModel commitWhileChanging(Random random, MetadataStore store, MetadataModel model)
            throws IOException {
        Generation frozen = store.freeze();
        MetadataModel committed = model.copy();
        change(random, store, model, random.nextInt(20));
        model.check(store);
        store.commit(frozen);
        model.check(store);
        return committed;
    }

    private static void failToCommit(CrashKeyValueStore database, MetadataStore store, MetadataModel model) {
        store.addToTotals(0, 1); // an empty generation has nothing that could fail
        model.files++;
        database.failNextCommits(1);
        Generation frozen = store.freeze();
        assertThrows(IOException.class, () -> store.commit(frozen));
        assertThrows(IllegalStateException.class, store::freeze);
        assertEquals(frozen, store.uncommitted());
    }

    @Test
    void aCommitThatFailedLosesNothingAndCanBeTriedAgain() throws IOException {
        Random random = new Random(TestSeed.next());
        CrashKeyValueStore database = new CrashKeyValueStore();
        MetadataStore store = format(database);
        MetadataModel model = new MetadataModel();
        change(random, store, model, 50);
        failToCommit(database, store, model);
        change(random, store, model, 50);
        model.check(store);
        store.commit(store.uncommitted());
        model.check(store);
        commit(store);
        model.condemned.clear();
        model.check(MetadataStore.open(database.crash(1), 0));
    }

    private static void change(Random random, MetadataStore store, MetadataModel model, int changes)
            throws IOException {
        for (int i = 0; i < changes; i++) {
            long id = 1L + random.nextInt(MetadataModel.NUMBERS - 1);
            String name = "n" + random.nextInt(MetadataModel.NAMES);
            switch (random.nextInt(6)) {
                case 0 -> changeInode(random, store, model, id);
                case 1 -> changeEntry(random, store, model, id, name);
                case 2 -> changeAttribute(random, store, model, id, name);
                case 3 -> changeOrphan(random, store, model, id);
                case 4 -> {
                    collect(random, store, model);
                    removePages(random, store, model, id);
                }
                default -> replacePage(random, store, model, id);
            }
        }
    }

    private static void changeInode(Random random, MetadataStore store, MetadataModel model, long id) {
        if (random.nextInt(3) == 0) {
            store.namespace().remove(id);
            model.inodes.remove(id);
        } else {
            Inode.Times times = new Inode.Times(random.nextLong(), random.nextInt(), random.nextLong(), 5);
            Inode inode = Inode.of(id, FILE | random.nextInt(0777), times)
                    .withOwner(-1, random.nextInt())
                    .withTarget(new byte[random.nextInt(3)])
                    .withBytes(random.nextLong() >>> 1, random.nextInt(1 << 20))
                    .withParent(1);
            store.namespace().put(inode);
            model.inodes.put(id, MetadataModel.text(inode));
        }
        store.addToTotals(0, 1);
        model.files++;
    }

    private static void changeEntry(Random random, MetadataStore store, MetadataModel model, long id, String name) {
        if (random.nextInt(3) == 0) {
            store.namespace().removeEntry(id, name.getBytes(UTF_8));
            model.entries.remove(id + "/" + name);
        } else {
            Entry entry = new Entry(random.nextLong() >>> 1, FILE);
            store.namespace().putEntry(id, name.getBytes(UTF_8), entry.inode(), FILE);
            model.entries.put(id + "/" + name, entry);
        }
    }

    private static void changeAttribute(Random random, MetadataStore store, MetadataModel model, long id, String name) {
        if (random.nextInt(3) == 0) {
            store.namespace().removeAttribute(id, name.getBytes(UTF_8));
            model.attributes.remove(id + "/" + name);
        } else {
            String value = "v".repeat(random.nextInt(5));
            store.namespace().putAttribute(id, name.getBytes(UTF_8), value.getBytes(UTF_8));
            model.attributes.put(id + "/" + name, value);
        }
    }

    private static void changeOrphan(Random random, MetadataStore store, MetadataModel model, long id)
            throws IOException {
        if (random.nextBoolean()) {
            store.namespace().removeOrphan(id);
            model.orphans.remove(id);
        } else {
            long page = random.nextInt(100);
            store.namespace().addOrphan(id, page);
            model.orphans.merge(id, page, Math::min);
        }
    }

    /** Condemns few slots at a time: a page that refers to a tombstone cannot be put. */
    private static void collect(Random random, MetadataStore store, MetadataModel model) throws IOException {
        long container = 1 + random.nextInt(CONTAINERS);
        switch (random.nextInt(8)) {
            case 0 -> {
                store.counts().pardon(container);
                model.condemned.remove(container);
            }
            case 1 ->
                assertEquals(model.tombstoneCondemned(container), store.counts().tombstoneCondemned(container));
            case 2, 3 -> {
                int slots = random.nextInt(6);
                assertEquals(model.condemn(container, slots), store.counts().condemn(container, slots));
            }
            default -> {}
        }
    }

    private static void removePages(Random random, MetadataStore store, MetadataModel model, long id)
            throws IOException {
        if (random.nextInt(4) == 0) {
            int from = random.nextInt(MetadataModel.PAGES);
            int max = 1 + random.nextInt(3);
            var dead = model.pages.subMap(id * MetadataModel.PAGES + from, (id + 1) * MetadataModel.PAGES);
            int removed = Recipes.removePages(store, id, from, max);
            assertEquals(Math.min(max, dead.size()), removed);
            for (int i = 0; i < removed; i++) {
                dead.remove(dead.firstKey());
            }
        }
    }

    private static void replacePage(Random random, MetadataStore store, MetadataModel model, long id)
            throws IOException {
        RecipePage page = Recipes.random(random, PAGE_BYTES, 20);
        int number = random.nextInt(MetadataModel.PAGES);
        if (model.allows(page)) {
            store.recipes().replace(id, number, page);
            model.replace(id, number, page);
        }
    }

    /** Makes a store with an entry for each container: without one, a container loses its tombstones. */
    private static MetadataStore format(KeyValueStore database) throws IOException {
        MetadataStore store = MetadataStore.format(database, header());
        Map<Long, StoredContainer> places = new HashMap<>();
        for (long container = 1; container <= CONTAINERS; container++) {
            places.put(container, new StoredContainer(Writing.UNKNOWN, StoredContainer.State.SEALED, 0, 0, 1, 1, 1));
        }
        store.commit(store.freeze(), new ContainerChanges(places, Set.of()));
        return store;
    }

    private static void commit(MetadataStore store) throws IOException {
        store.commit(store.freeze());
    }

    private static MetadataHeader header() {
        return new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 3, MetadataHeader.FORMAT_VERSION);
    }
}
