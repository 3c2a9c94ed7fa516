package org.opendedup.sar.metadata.db;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

final class RocksDbKeyValueStoreTest extends KeyValueStoreContract {
    private static final long MEMORY_BYTES = 8 << 20;

    @TempDir
    Path temporary;

    @Override
    KeyValueStore make() throws IOException {
        return KeyValueStores.openRocksDb(temporary.resolve("contract"), MEMORY_BYTES, true);
    }

    @Test
    void aMissingDatabaseIsNotMadeByOpening() {
        Path folder = temporary.resolve("missing");
        IOException e =
                assertThrows(CorruptionException.class, () -> KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false));
        assertTrue(e.getMessage().contains(folder.toString()), e.getMessage());
        assertTrue(Files.notExists(folder));
    }

    /** Its families differ, so RocksDB cannot open it as this program does. */
    @Test
    void aDatabaseOfAnEarlierFormatIsRefusedByItsVersionAndStaysAsItIs() throws Exception {
        Path folder = temporary.resolve("earlier");
        KeyValueStore present = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, true);
        MetadataHeader header = new MetadataHeader(new UUID(1, 2), 65536, 3, 3);
        try (Batch batch = present.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.HEADER, SystemRecords.encodeHeader(header));
            batch.commit();
        }
        present.close();
        dropFamily(folder, Family.CONTAINER);
        byte[] manifest = Files.readAllBytes(manifest(folder));
        for (int i = 0; i < 2; i++) {
            UnsupportedFormatException e = assertThrows(
                    UnsupportedFormatException.class, () -> KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false));
            assertTrue(e.getMessage().contains("format version 3"), e.getMessage());
            assertTrue(e.getMessage().contains("copy the files into a new volume"), e.getMessage());
            assertArrayEquals(manifest, Files.readAllBytes(manifest(folder)));
        }
    }

    /** The control of the previous test: without a version that explains it, the missing family is what is reported. */
    @Test
    void aDatabaseThatLacksAFamilyIsRefused() throws Exception {
        Path folder = temporary.resolve("incomplete");
        KeyValueStores.openRocksDb(folder, MEMORY_BYTES, true).close();
        dropFamily(folder, Family.CONTAINER);
        IOException e = assertThrows(IOException.class, () -> KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false));
        assertTrue(e.getMessage().contains("container"), e.getMessage());
    }

    private static void dropFamily(Path folder, Family dropped) throws RocksDBException {
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (DBOptions options = new DBOptions();
                ColumnFamilyOptions familyOptions = new ColumnFamilyOptions()) {
            List<ColumnFamilyDescriptor> families = new ArrayList<>();
            families.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
            for (Family family : Family.values()) {
                families.add(new ColumnFamilyDescriptor(bytes(family.name().toLowerCase(Locale.ROOT)), familyOptions));
            }
            try (RocksDB database = RocksDB.open(options, folder.toString(), families, handles)) {
                database.dropColumnFamily(handles.get(1 + dropped.ordinal()));
                handles.forEach(ColumnFamilyHandle::close);
            }
        }
    }

    private static Path manifest(Path folder) throws IOException {
        return folder.resolve(Files.readString(folder.resolve("CURRENT")).strip());
    }

    @Test
    void anExistingDatabaseIsNotMadeAnew() {
        assertThrows(IOException.class, this::make);
    }

    @Test
    void aDatabaseIsOpenOnlyOnce() {
        assertThrows(
                IOException.class,
                () -> KeyValueStores.openRocksDb(temporary.resolve("contract"), MEMORY_BYTES, false));
    }

    @Test
    void aClosedStoreRefusesCalls() throws IOException {
        store.close();
        assertThrows(IOException.class, () -> store.get(Family.INODE, bytes("a")));
        assertThrows(IOException.class, () -> store.scan(Family.INODE, bytes("a"), bytes("b")));
        assertThrows(IOException.class, () -> put(store, Family.INODE, "a", "1"));
    }

    /** Other programs may take the space between the check and the reopening, when the database is already closed. */
    @Test
    void aReopeningThatFindsNoSpaceIsToldAsSuchAndTriedAgain() throws IOException {
        put(store, Family.INODE, "a", "1");
        RocksDbKeyValueStore database = (RocksDbKeyValueStore) store;
        RocksDbKeyValueStore.Recovery recovery = database.recovery;
        try (Batch waiting = store.batch()) {
            waiting.put(Family.ENTRY, bytes("b"), bytes("2"));
            for (IOException failure :
                    List.of(new NoSpaceException("full"), new IOException("/db/LOG: No space left on device"))) {
                database.recovery = () -> {
                    throw failure;
                };
                assertThrows(NoSpaceException.class, database::reopen);
                assertThrows(NoSpaceException.class, () -> store.get(Family.INODE, bytes("a")));
                assertThrows(NoSpaceException.class, () -> store.scan(Family.INODE, bytes("a"), bytes("b")));
                assertThrows(NoSpaceException.class, () -> put(store, Family.INODE, "a", "3"));
                assertThrows(NoSpaceException.class, waiting::commit);
            }
            // Nothing is written: a read alone reopens the database.
            database.recovery = recovery;
            assertArrayEquals(bytes("1"), store.get(Family.INODE, bytes("a")));
            waiting.commit();
        }
        assertArrayEquals(bytes("2"), store.get(Family.ENTRY, bytes("b")));
    }

    /** The control of the previous test: reads work, and the next write tries again. */
    @Test
    void aReopeningThatFailsOtherwiseIsNoShortageAndLeavesReading() throws IOException {
        put(store, Family.INODE, "a", "1");
        RocksDbKeyValueStore database = (RocksDbKeyValueStore) store;
        RocksDbKeyValueStore.Recovery recovery = database.recovery;
        database.recovery = () -> {
            throw new IOException("Input/output error");
        };
        assertThrows(WriteFailedException.class, database::reopen);
        assertArrayEquals(bytes("1"), store.get(Family.INODE, bytes("a")));
        assertThrows(WriteFailedException.class, () -> put(store, Family.INODE, "b", "2"));
        assertArrayEquals(bytes("1"), store.get(Family.INODE, bytes("a")));
        try (Cursor cursor = store.scan(Family.INODE, bytes("a"), bytes("c"))) {
            assertTrue(cursor.next());
            assertFalse(cursor.next());
        }
        database.recovery = recovery;
        put(store, Family.INODE, "b", "2");
        store.close();
        store = KeyValueStores.openRocksDb(temporary.resolve("contract"), MEMORY_BYTES, false);
        assertArrayEquals(bytes("1"), store.get(Family.INODE, bytes("a")));
        assertArrayEquals(bytes("2"), store.get(Family.INODE, bytes("b")));
    }

    /** A database that does not read acknowledged changes must not answer as if they had never existed. */
    @Test
    void whatCanOnlyBeSeenInPartIsNotShown() throws IOException {
        put(store, Family.INODE, "a", "1");
        RocksDbKeyValueStore database = (RocksDbKeyValueStore) store;
        Path log = TornLogTest.newestLog(temporary.resolve("contract"));
        byte[] whole = Files.readAllBytes(log);
        database.recovery = () -> {
            Files.write(log, Arrays.copyOf(whole, whole.length / 2));
            throw new IOException("Input/output error");
        };
        assertThrows(WriteFailedException.class, database::reopen);
        assertThrows(IOException.class, () -> store.get(Family.INODE, bytes("a")));
        Files.write(log, whole);
    }

    /** Whoever holds a cursor may wait for a disk, and a failed commit must not wait for that. */
    @Test
    void aCursorGoesOnBehindItsKeyInADatabaseThatIsReopened() throws IOException {
        for (String key : List.of("a", "c", "d")) {
            put(store, Family.INODE, key, "1");
        }
        RocksDbKeyValueStore database = (RocksDbKeyValueStore) store;
        Cursor unused = store.scan(Family.INODE, bytes("b"), bytes("z"));
        try (Cursor cursor = store.scan(Family.INODE, bytes("a"), bytes("z"));
                Cursor fresh = unused) {
            assertTrue(cursor.next());
            database.reopen();
            assertArrayEquals(bytes("a"), cursor.key());
            assertArrayEquals(bytes("1"), cursor.value());
            put(store, Family.INODE, "b", "2");
            assertEquals(List.of("b", "c"), List.of(next(cursor), next(cursor)));
            try (Batch batch = store.batch()) {
                batch.delete(Family.INODE, bytes("c"));
                batch.commit();
            }
            database.reopen();
            assertEquals("d", next(cursor));
            assertFalse(cursor.next());
            database.reopen();
            assertFalse(cursor.next());
            assertEquals("b", next(fresh));
            store.close();
            assertThrows(IOException.class, fresh::next);
        }
        store = KeyValueStores.openRocksDb(temporary.resolve("contract"), MEMORY_BYTES, false);
    }

    private static String next(Cursor cursor) throws IOException {
        assertTrue(cursor.next());
        return new String(cursor.key(), UTF_8);
    }

    @Test
    void cursorsAreReadWhileTheDatabaseIsReopenedAgainAndAgain() throws Exception {
        try (Batch batch = store.batch()) {
            for (int key = 1000; key < 2000; key++) {
                batch.put(Family.INODE, bytes("" + key), bytes("1"));
            }
            batch.commit();
        }
        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch readOnce = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> reading = thread.submit(() -> {
                while (!ended.get()) {
                    try (Cursor cursor = store.scan(Family.INODE, bytes("1"), bytes("2"))) {
                        for (int key = 1000; key < 2000; key++) {
                            assertEquals("" + key, next(cursor));
                        }
                        assertFalse(cursor.next());
                    }
                    readOnce.countDown();
                }
                return null;
            });
            readOnce.await();
            for (int i = 0; i < 5; i++) {
                ((RocksDbKeyValueStore) store).reopen();
            }
            ended.set(true);
            reading.get();
        } finally {
            thread.shutdownNow();
        }
    }
}
