package org.opendedup.sar.metadata.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.PerfLevel;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The cost of reads in a database whose tables' filters are larger than a part of the cache, and the memory they take
 * in it.
 */
final class ColdReadsTest {
    /** Property of RocksDB: number of tables that are not merged. */
    private static final String UNMERGED = "rocksdb.num-files-at-level0";

    /** About what the least budget gives. */
    private static final long MEMORY_BYTES = 32 << 20;

    private static final int NAMES = 600_000;
    private static final int LOOKUPS = 400;

    /**
     * A part of an index, one of a filter, and a block of records; and once for all, the blocks that refer to the
     * parts.
     */
    private static final long COLD_BYTES_PER_LOOKUP = 24 << 10;

    private static final int PAGES = 12_800;
    private static final int PAGES_OF_A_CURSOR = 64;

    private static final int DELETED = 150_000;

    /**
     * Marks that wait for more in the write buffer, those of one batch, and as many again in a table below the
     * threshold.
     */
    private static final int MOST_STEPS = 3 * DeletionMarks.MANY;

    private static final int BATCH = 10_000;
    private static final long LIMIT_NANOS = 60_000_000_000L;

    @TempDir
    Path temporary;

    @Test
    void aColdLookupReadsBlocksAndNotFilters() throws Exception {
        assertTrue(bytesOfLookups(() -> create("new")) <= LOOKUPS * COLD_BYTES_PER_LOOKUP);
        // The control: RocksDB's own division of the cache, and a filter of one block for each table.
        long before = bytesOfLookups(() -> EarlierOptions.create(temporary.resolve("earlier"), MEMORY_BYTES));
        assertTrue(before > 10 * LOOKUPS * COLD_BYTES_PER_LOOKUP, before + " bytes");
    }

    /** A reader follows a recipe by cursors over some pages each. */
    @Test
    void aCursorOverARecipeReadsItsPagesAtOnce() throws Exception {
        Path folder = temporary.resolve("recipes");
        byte[] page = new byte[1000];
        Random random = new Random(1);
        try (KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, true)) {
            for (int i = 0; i < PAGES; i += PAGES_OF_A_CURSOR) {
                try (Batch batch = store.batch()) {
                    for (int j = i; j < i + PAGES_OF_A_CURSOR; j++) {
                        random.nextBytes(page);
                        batch.put(Family.RECIPE, Keys.of(7, j), page.clone());
                        batch.put(Family.INODE, Keys.of(7, j), page.clone());
                    }
                    batch.commit();
                }
            }
        }
        try (KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false)) {
            int cursors = PAGES / PAGES_OF_A_CURSOR;
            long recipe = readsOfCursors(store, Family.RECIPE);
            assertTrue(recipe < 2 * cursors, recipe + " reads of " + cursors + " cursors");
            // The control: of other families a cursor reads the first blocks one by one.
            long other = readsOfCursors(store, Family.INODE);
            assertTrue(other > 2 * cursors, other + " reads of " + cursors + " cursors");
        }
    }

    private static long readsOfCursors(KeyValueStore store, Family family) throws IOException {
        long before = readCalls();
        for (int i = 0; i < PAGES; i += PAGES_OF_A_CURSOR) {
            int found = 0;
            try (Cursor cursor = store.scan(family, Keys.of(7, i), Keys.of(7, i + PAGES_OF_A_CURSOR))) {
                while (cursor.next()) {
                    found++;
                }
            }
            assertEquals(PAGES_OF_A_CURSOR, found);
        }
        return readCalls() - before;
    }

    /** Returns the number of system calls by which this process has read, of proc(5). */
    private static long readCalls() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/io"))) {
            return lines.filter(line -> line.startsWith("syscr: "))
                    .mapToLong(line -> Long.parseLong(line.substring("syscr: ".length())))
                    .sum();
        }
    }

    private interface Opening {
        OpenDatabase open() throws IOException;
    }

    /** Bytes that lookups read, of existing and of missing names. */
    private static long bytesOfLookups(Opening opening) throws Exception {
        try (OpenDatabase database = opening.open()) {
            ColumnFamilyHandle family = database.handle(Family.ENTRY);
            fill(database.database(), family);
            Random random = new Random(1);
            RocksDB db = database.database();
            db.setPerfLevel(PerfLevel.ENABLE_COUNT);
            try {
                // Whatever the filling left in the cache, it holds only a part of the database.
                long begin = db.getPerfContext().getBlockReadByte();
                for (int i = 0; i < LOOKUPS; i++) {
                    long number = random.nextInt(2 * NAMES);
                    assertEquals(number % 2 == 0, db.get(family, key(number)) != null);
                }
                return db.getPerfContext().getBlockReadByte() - begin;
            } finally {
                db.setPerfLevel(PerfLevel.DISABLE);
            }
        }
    }

    /** Names of even numbers, finally in one table. */
    private static void fill(RocksDB db, ColumnFamilyHandle family) throws RocksDBException {
        try (WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
                WriteBatch batch = new WriteBatch()) {
            for (int i = 0; i < NAMES; i++) {
                batch.put(family, key(2L * i), new byte[] {1, 2, 3, 4, 5});
                if (batch.count() == BATCH) {
                    db.write(unlogged, batch);
                    batch.clear();
                }
            }
        }
        db.compactRange(family);
    }

    private static byte[] key(long number) {
        return Keys.of(17, number * 0x9e3779b97f4a7c15L >>> 1);
    }

    @Test
    void anEmptiedFolderIsListedInFewSteps() throws Exception {
        try (KeyValueStore store = KeyValueStores.openRocksDb(temporary.resolve("new"), MEMORY_BYTES, true);
                OpenDatabase steps = create("steps")) {
            for (boolean isThere : new boolean[] {true, false}) {
                for (int i = 0; i < DELETED; i += BATCH) {
                    try (Batch batch = store.batch()) {
                        change(i, isThere, batch);
                        batch.commit();
                    }
                }
            }
            long end = System.nanoTime() + LIMIT_NANOS;
            long stepped = steps(steps.database(), () -> assertEquals(0, list(store)));
            while (stepped > MOST_STEPS && System.nanoTime() < end) {
                Thread.sleep(20);
                stepped = steps(steps.database(), () -> assertEquals(0, list(store)));
            }
            assertTrue(stepped <= MOST_STEPS, stepped + " marks stepped over");
        }
    }

    /** The control: with limits by size alone the marks stay, in the write buffer and in the table made from it. */
    @Test
    void withoutCompactionOfDeletionsTheMarksStay() throws Exception {
        try (OpenDatabase database = EarlierOptions.create(temporary.resolve("earlier"), MEMORY_BYTES);
                WriteBatch batch = new WriteBatch()) {
            RocksDB db = database.database();
            ColumnFamilyHandle family = database.handle(Family.ENTRY);
            for (boolean isThere : new boolean[] {true, false}) {
                for (int i = 0; i < DELETED; i++) {
                    if (isThere) {
                        batch.put(family, key(i), new byte[] {1});
                    } else {
                        batch.delete(family, key(i));
                    }
                }
                db.write(database.synced(), batch);
                batch.clear();
                if (isThere) {
                    db.compactRange(family);
                }
            }
            assertTrue(steps(db, () -> scan(db, family)) >= DELETED);
            try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
                db.flush(wait, family);
            }
            for (String waiting : List.of("rocksdb.compaction-pending", "rocksdb.num-running-compactions")) {
                assertEquals(0, db.getLongProperty(family, waiting), waiting);
            }
            assertTrue(steps(db, () -> scan(db, family)) >= DELETED);
        }
    }

    /** On a disk that is nearly full a write buffer is not flushed: flushing could end all writing. */
    @Test
    void manyDeletionsAreWrittenOutWhereThereIsRoom() throws Exception {
        try (OpenDatabase database = create("new")) {
            ColumnFamilyHandle family = database.handle(Family.ENTRY);
            database.database().delete(family, key(1));
            DeletionMarks marks = new DeletionMarks();
            marks.count(Map.of(Family.ENTRY, DeletionMarks.MANY - 1));
            marks.writeOutMany(database, () -> true);
            assertEquals(1, inWriteBuffer(database, family), "few");
            marks.count(Map.of(Family.ENTRY, 1));
            marks.writeOutMany(database, () -> false);
            assertEquals(1, inWriteBuffer(database, family), "no room");
            marks.writeOutMany(database, () -> true);
            assertEquals(0, inWriteBuffer(database, family), "room");
        }
    }

    private static long inWriteBuffer(OpenDatabase database, ColumnFamilyHandle family) throws RocksDBException {
        return database.database().getLongProperty(family, "rocksdb.num-entries-active-mem-table");
    }

    private static void change(int first, boolean isThere, Batch batch) throws IOException {
        for (int i = first; i < first + BATCH; i++) {
            if (isThere) {
                batch.put(Family.ENTRY, key(i), new byte[] {1});
            } else {
                batch.delete(Family.ENTRY, key(i));
            }
        }
    }

    private static int list(KeyValueStore store) throws IOException {
        int found = 0;
        try (Cursor cursor = store.scan(Family.ENTRY, Keys.of(17), Keys.of(18))) {
            while (cursor.next()) {
                found++;
            }
        }
        return found;
    }

    private static void scan(RocksDB db, ColumnFamilyHandle family) {
        try (RocksIterator iterator = db.newIterator(family)) {
            iterator.seek(Keys.of(17));
            assertTrue(!iterator.isValid());
        }
    }

    private interface Scan {
        void run() throws IOException;
    }

    /** Deletion marks that this thread skipped; any database returns the same number. */
    private static long steps(RocksDB any, Scan scan) throws IOException {
        any.setPerfLevel(PerfLevel.ENABLE_COUNT);
        try {
            long before = any.getPerfContext().getInternalDeleteSkippedCount();
            scan.run();
            return any.getPerfContext().getInternalDeleteSkippedCount() - before;
        } finally {
            any.setPerfLevel(PerfLevel.DISABLE);
        }
    }

    /** A family's first records take a block of memory: with large blocks, small budgets were full of them. */
    @Test
    void familiesWithFewRecordsTakeLittleMemory() throws Exception {
        long earlier;
        try (OpenDatabase database = EarlierOptions.create(temporary.resolve("earlier"), MEMORY_BYTES)) {
            earlier = bytesOfWriteBuffersWithAFewRecordsEach(database);
        }
        try (OpenDatabase database = create("new")) {
            long bytes = bytesOfWriteBuffersWithAFewRecordsEach(database);
            assertTrue(bytes <= 1 << 20, bytes + " bytes");
            assertTrue(earlier > 3 * bytes, "the control: " + earlier + " bytes, now " + bytes);
        }
    }

    private static long bytesOfWriteBuffersWithAFewRecordsEach(OpenDatabase database) throws RocksDBException {
        for (Family family : Family.values()) {
            for (int i = 0; i < 20; i++) {
                database.database().put(database.handle(family), key(i), new byte[200]);
            }
        }
        return database.database().getAggregatedLongProperty("rocksdb.cur-size-all-mem-tables");
    }

    @Test
    void allThatIsWrittenAndReadStaysWithinTheMemory() throws Exception {
        try (OpenDatabase database = create("new")) {
            RocksDB db = database.database();
            ColumnFamilyHandle family = database.handle(Family.ENTRY);
            fill(db, family);
            fill(db, database.handle(Family.INODE));
            Random random = new Random(2);
            for (int i = 0; i < 50_000; i++) {
                db.get(family, key(random.nextInt(2 * NAMES)));
            }
            long cached = db.getLongProperty("rocksdb.block-cache-usage"); // write buffers are charged to the cache
            long readers = db.getAggregatedLongProperty("rocksdb.estimate-table-readers-mem");
            assertTrue(cached > MEMORY_BYTES / 4, "the control: it was used, " + cached + " bytes");
            assertTrue(cached + readers <= MEMORY_BYTES, cached + " and " + readers + " bytes");
        }
    }

    @Test
    void theManifestIsWrittenAnewWhenItIsLong() throws Exception {
        List<Long> lengths = new ArrayList<>();
        for (Opening opening : List.<Opening>of(
                () -> create("new"), () -> EarlierOptions.create(temporary.resolve("earlier"), MEMORY_BYTES))) {
            try (OpenDatabase database = opening.open()) {
                writeALongKeyManyTimes(database);
            }
        }
        for (String name : List.of("new", "earlier")) {
            Path folder = temporary.resolve(name);
            lengths.add(Files.size(
                    folder.resolve(Files.readString(folder.resolve("CURRENT")).strip())));
        }
        assertTrue(lengths.get(0) <= 2 * DatabaseOptions.MAX_MANIFEST_BYTES, lengths + " bytes");
        assertTrue(lengths.get(1) > 3 * DatabaseOptions.MAX_MANIFEST_BYTES, "the control: " + lengths + " bytes");
    }

    /**
     * The manifest has each table's first and last key. Tables are merged, but their entries in the manifest stay. One
     * that is written anew has those of all tables that are not merged yet: on a slow machine they must not be many.
     */
    private static void writeALongKeyManyTimes(OpenDatabase database) throws RocksDBException {
        ColumnFamilyHandle family = database.handle(Family.XATTR);
        try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
            for (int i = 0; i < 100; i++) {
                byte[] key = new byte[32 << 10];
                database.database().put(family, key, new byte[] {1});
                database.database().flush(wait, family);
                TestWait.until(() -> Integer.parseInt(database.database().getProperty(family, UNMERGED)) < 8);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "32, 0", "63, 0", "64, 1", "100, 1", "128, 2", "2048, 6", "65536, 6"})
    void noPartOfTheCacheIsSmall(long mebibytes, int bits) {
        assertEquals(bits, DatabaseOptions.shardBits(mebibytes << 20));
    }

    private OpenDatabase create(String name) throws IOException {
        return OpenDatabase.create(Files.createDirectory(temporary.resolve(name)), MEMORY_BYTES);
    }
}
