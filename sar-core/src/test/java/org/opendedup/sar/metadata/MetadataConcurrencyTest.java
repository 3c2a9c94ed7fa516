package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;

/** Writers and readers work while generations are frozen and committed. */
final class MetadataConcurrencyTest {
    private static final int WRITERS = 3;
    private static final int PAGES = 40;
    private static final int ROUNDS = 3000;
    private static final int PAGE_BYTES = 65536;

    /** The caller's lock: shared for changes, exclusive for freeze. */
    private final ReadWriteLock commitLock = new ReentrantReadWriteLock();

    /** By writer and page: the least sequence number of the page that a read may return from now on. */
    private final AtomicLongArray published = new AtomicLongArray(WRITERS * PAGES);

    private final AtomicBoolean writing = new AtomicBoolean(true);

    @Test
    void readersNeverSeeAPageOrAnInodeGoBackAndCountsStayExact(@TempDir Path folder) throws Exception {
        long seed = TestSeed.next();
        Path database = folder.resolve("metadata");
        MetadataHeader header = new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 3, MetadataHeader.FORMAT_VERSION);
        MetadataStore.format(KeyValueStores.openRocksDb(database, 16 << 20, true), header)
                .close();
        try (MetadataStore store = MetadataStore.open(KeyValueStores.openRocksDb(database, 16 << 20, false), 120_000)) {
            run(store, seed);
            assertCountsEqualReferences(store);
        }
        try (MetadataStore store = MetadataStore.open(KeyValueStores.openRocksDb(database, 16 << 20, false), 0)) {
            assertCountsEqualReferences(store);
            for (int writer = 0; writer < WRITERS; writer++) {
                for (int page = 0; page < PAGES; page++) {
                    assertEquals(published.get(writer * PAGES + page), sequence(store, writer, page));
                }
            }
        }
    }

    private void run(MetadataStore store, long seed) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> writers = new ArrayList<>();
            List<Future<?>> others = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                int id = writer;
                writers.add(threads.submit(call(() -> write(store, id, new Random(seed + id)))));
            }
            others.add(threads.submit(call(() -> commit(store))));
            others.add(threads.submit(call(() -> read(store, new Random(seed + 100)))));
            others.add(threads.submit(call(() -> read(store, new Random(seed + 101)))));
            for (Future<?> writer : writers) {
                writer.get();
            }
            writing.set(false);
            for (Future<?> other : others) {
                other.get();
            }
        } finally {
            writing.set(false);
            threads.shutdownNow();
        }
    }

    private void write(MetadataStore store, int writer, Random random) throws IOException {
        for (int sequence = 1; sequence <= ROUNDS; sequence++) {
            int page = random.nextInt(PAGES);
            RecipePage.Builder recipe = new RecipePage.Builder();
            long container = 1L + random.nextInt(6);
            for (int entry = 0; entry < 8; entry++) {
                recipe.add(ChunkId.of(container, random.nextInt(64)), 0, 4096, sequence);
            }
            commitLock.readLock().lock();
            try {
                store.recipes().replace(inode(writer), page, recipe.build());
                store.namespace().put(inode(writer, sequence));
            } finally {
                commitLock.readLock().unlock();
            }
            published.set(writer * PAGES + page, sequence);
        }
    }

    private void read(MetadataStore store, Random random) throws IOException {
        long[] inodeSizes = new long[WRITERS];
        while (writing.get()) {
            int writer = random.nextInt(WRITERS);
            int page = random.nextInt(PAGES);
            long least = published.get(writer * PAGES + page);
            long found = sequence(store, writer, page);
            assertTrue(found >= least, () -> "page went back: " + found + " < " + least);
            Inode inode = store.namespace().inode(inode(writer));
            long size = inode == null ? 0 : inode.size();
            assertTrue(size >= inodeSizes[writer], "inode went back");
            inodeSizes[writer] = size;
        }
    }

    private void commit(MetadataStore store) throws IOException {
        boolean last;
        do {
            last = !writing.get();
            Generation frozen;
            commitLock.writeLock().lock();
            try {
                frozen = store.freeze();
            } finally {
                commitLock.writeLock().unlock();
            }
            store.commit(frozen);
        } while (!last);
    }

    private static long sequence(MetadataStore store, int writer, int page) throws IOException {
        RecipePage recipe = store.recipes().page(inode(writer), page);
        return recipe.count() == 0 ? 0 : recipe.fingerprintPrefix(0);
    }

    private static void assertCountsEqualReferences(MetadataStore store) throws IOException {
        Map<Long, Integer> references = new HashMap<>();
        for (int writer = 0; writer < WRITERS; writer++) {
            store.recipes().forEachPage(inode(writer), 0, PAGES, (page, recipe) -> {
                for (int entry = 0; entry < recipe.count(); entry++) {
                    references.merge(recipe.chunkId(entry), 1, Integer::sum);
                }
            });
        }
        PresentRecords.forEachCounted(store, (container, counts) -> {
            for (int slot = 0; slot < counts.slots(); slot++) {
                Integer expected = references.remove(ChunkId.of(container, slot));
                assertEquals(expected == null ? 0 : expected, counts.count(slot));
            }
        });
        assertTrue(references.isEmpty(), "references without a count");
    }

    private static long inode(int writer) {
        return 2L + writer;
    }

    private static Inode inode(int writer, long size) {
        return Inode.of(inode(writer), 0100644, Inode.Times.ofCreation(0)).withBytes(size, size);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static Callable<Void> call(Work work) {
        return () -> {
            work.run();
            return null;
        };
    }
}
