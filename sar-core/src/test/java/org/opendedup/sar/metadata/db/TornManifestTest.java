package org.opendedup.sar.metadata.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * A manifest whose last record a power cut tore during a flush. All logs that the flush replaces still exist, because
 * they are deleted after the record is synced.
 */
class TornManifestTest {
    private static final long MEMORY_BYTES = 8 << 20;
    private static final int SECTOR = 512;

    /** Each writes a record; together they are longer than a page. */
    private static final int FLUSHES = 40;

    @TempDir
    Path temporary;

    /** Before the last flush, and after it. */
    private Path before;

    private Path after;
    private int trials;

    @BeforeEach
    void make() throws IOException, RocksDBException {
        Path folder = temporary.resolve("written");
        try (KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, true);
                Batch batch = store.batch()) {
            batch.put(Family.INODE, key(-1), key(-1));
            batch.commit();
        }
        before = temporary.resolve("before");
        after = temporary.resolve("after");
        List<ColumnFamilyDescriptor> families = new ArrayList<>();
        families.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY));
        for (Family family : Family.values()) {
            families.add(new ColumnFamilyDescriptor(
                    family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII)));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (DBOptions options = new DBOptions();
                RocksDB database = RocksDB.open(options, folder.toString(), families, handles);
                WriteOptions synced = new WriteOptions().setSync(true);
                FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
            ColumnFamilyHandle inodes = handles.get(1 + Family.INODE.ordinal());
            for (int i = 0; i < FLUSHES; i++) {
                database.put(inodes, synced, key(i), key(i));
                if (i == FLUSHES - 1) {
                    TestFolders.copy(folder, before);
                }
                database.flush(flush, inodes);
            }
            copy(folder, after);
            handles.forEach(ColumnFamilyHandle::close);
        }
    }

    @Test
    void aTornRecordIsCutOff() throws IOException {
        byte[] whole = Files.readAllBytes(manifest(after));
        int acknowledged = (int) Files.size(manifest(before));
        assertTrue(acknowledged > 4096, "more than a page: " + acknowledged);
        assertTrue(whole.length > acknowledged);
        int last = lastRecord(manifest(after));
        SplittableRandom random = new SplittableRandom(1);
        for (int trial = 0; trial < TestSeed.rounds(10); trial++) {
            byte[] torn = whole.clone();
            int from = acknowledged + random.nextInt(torn.length - acknowledged);
            // Before the last record: everything from there on, because one record is synced after the other.
            int to = from < last ? torn.length : Math.min(torn.length, from + 1 + random.nextInt(SECTOR));
            Arrays.fill(torn, from, to, (byte) 0);
            Path copy = copy(after, temporary.resolve("torn" + trials++));
            copyLogs(before, copy);
            Files.write(manifest(copy), torn);
            assertAsksForAMount(copy, torn);
            assertOpens(copy);
            KeyValueStores.lookIntoRocksDb(copy, MEMORY_BYTES).close();
        }
    }

    /** The control: damage in a manifest is not a torn end. */
    @Test
    void aDamagedRecordBeforeAnotherIsRefused() throws IOException {
        byte[] whole = Files.readAllBytes(manifest(after));
        int acknowledged = (int) Files.size(manifest(before));
        for (int at = 0; at < acknowledged; at += 997) {
            Path copy = copy(before, temporary.resolve("damaged" + trials++));
            byte[] damaged = whole.clone();
            damaged[at] ^= 1;
            Files.write(manifest(copy), damaged);
            assertRefused(copy, damaged);
        }
    }

    /** The log that contained it is deleted: so the record was synced, and was damaged later. */
    @Test
    void aLastRecordThatIsNeededIsRefusedAndStaysAsItIs() throws IOException {
        byte[] whole = Files.readAllBytes(manifest(after));
        int acknowledged = (int) Files.size(manifest(before));
        Path copy = copy(after, temporary.resolve("needed"));
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(copy, "*.log")) {
            for (Path log : logs) {
                Files.delete(log);
            }
        }
        try (AcknowledgedSequence mark = AcknowledgedSequence.open(copy, false)) {
            mark.raise(FLUSHES + 1);
        }
        byte[] damaged = whole.clone();
        damaged[(acknowledged + whole.length) / 2] ^= 1;
        Files.write(manifest(copy), damaged);
        assertRefused(copy, damaged);
    }

    /**
     * A mount writes the logs that it finds to tables, and deletes them. A manifest that ends before its records of
     * these names none of them, and RocksDB opens the database without their changes.
     */
    @Test
    void aManifestThatEndsBeforeTheTablesOfDeletedLogsIsRefused() throws IOException {
        Path folder = temporary.resolve("gap");
        for (int mount = 0; mount < 3; mount++) {
            try (KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, mount == 0);
                    Batch batch = store.batch()) {
                batch.put(Family.INODE, key(mount), key(mount));
                batch.put(Family.ENTRY, key(mount), key(mount));
                batch.commit();
            }
        }
        byte[] whole = Files.readAllBytes(manifest(folder));
        int refused = 0;
        int lost = 0;
        for (int length = 0; length < whole.length; length += 31) {
            Path copy = copy(folder, temporary.resolve("short" + trials++));
            byte[] cut = Arrays.copyOf(whole, length);
            Files.write(manifest(copy), cut);
            try (KeyValueStore found = KeyValueStores.lookIntoRocksDb(copy, MEMORY_BYTES)) {
                lost += found.get(Family.INODE, key(2)) == null ? 1 : 0;
            } catch (IOException e) {
                // A check does not open it either.
            }
            try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
                for (int mount = 0; mount < 3; mount++) {
                    lost += found.get(Family.INODE, key(mount)) == null ? 1 : 0;
                    lost += found.get(Family.ENTRY, key(mount)) == null ? 1 : 0;
                }
            } catch (CorruptionException e) {
                assertArrayEquals(cut, Files.readAllBytes(manifest(copy)), e.toString());
                refused += e.getMessage().contains("which were synced") ? 1 : 0;
            }
        }
        assertEquals(0, lost, "records are missing, and the database was opened");
        assertTrue(refused > 0, "no manifest ended too early");
    }

    /** On a full disk RocksDB may append a part of a record, and the database is closed cleanly after that. */
    @Test
    void aPartOfARecordThatIsThereAtCloseIsCutOff() throws IOException {
        Path folder = copy(before, temporary.resolve("partial"));
        KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false).close();
        byte[] whole = Files.readAllBytes(manifest(folder));
        byte[] torn = Arrays.copyOf(whole, whole.length + 20);
        torn[whole.length + 4] = 100; // the length of a record that has 13 bytes
        torn[whole.length + 6] = 1; // its type
        Files.write(manifest(folder), torn);
        // As at the end of close: RocksDB itself cuts off what it has not written.
        SyncedManifest.record(folder);
        // The control: the length of the file would be too much.
        Path control = copy(folder, temporary.resolve("control"));
        SyncedManifest.write(control, LogTail.manifestName(control), torn.length);
        assertRefused(control, torn);
        assertOpens(folder);
    }

    /** A record that was synced, and is damaged while the database is open, is no part of a record. */
    @Test
    void aSyncedRecordThatIsDamagedAtCloseIsRefused() throws IOException {
        Path folder = copy(before, temporary.resolve("damaged at close"));
        KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false);
        byte[] damaged = Files.readAllBytes(manifest(folder));
        damaged[damaged.length - 1] ^= 1;
        Files.write(manifest(folder), damaged);
        store.close();
        assertRefused(folder, damaged);
    }

    /** A check, which changes nothing, cannot cut the end off; it is no damage that needs a backup. */
    private static void assertAsksForAMount(Path copy, byte[] torn) throws IOException {
        if (LogTail.ofManifest(copy).cuts().isEmpty()) {
            return; // zeros from the begin of a record on: the end of the file
        }
        IOException e = assertThrows(
                IOException.class,
                () -> KeyValueStores.lookIntoRocksDb(copy, MEMORY_BYTES).close());
        assertTrue(e.getMessage().contains("mount the volume and unmount it once"), e.toString());
        assertFalse(e instanceof CorruptionException, e.toString());
        assertFalse(e.getMessage().contains("--restore-metadata"), e.toString());
        assertArrayEquals(torn, Files.readAllBytes(manifest(copy)));
    }

    private static void assertRefused(Path copy, byte[] manifest) throws IOException {
        IOException looked = assertThrows(
                IOException.class,
                () -> KeyValueStores.lookIntoRocksDb(copy, MEMORY_BYTES).close());
        assertTrue(
                looked instanceof CorruptionException || looked.getMessage().contains("unmount it once"),
                looked.toString());
        assertThrows(
                CorruptionException.class,
                () -> KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false).close());
        assertArrayEquals(manifest, Files.readAllBytes(manifest(copy)));
    }

    private static void assertOpens(Path folder) throws IOException {
        try (KeyValueStore found = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false)) {
            for (int i = -1; i < FLUSHES; i++) {
                assertNotNull(found.get(Family.INODE, key(i)), "key " + i);
            }
        }
    }

    private static int lastRecord(Path manifest) throws IOException {
        long[] last = {0};
        new LogFragments().read(manifest, new LogFragments.Visitor() {
            @Override
            public void fragment(LogFragments.Type type, long offset, ByteBuffer payload) {
                last[0] = offset;
            }

            @Override
            public void damage(long offset) {
                throw new AssertionError("an intact manifest");
            }
        });
        return (int) last[0];
    }

    private static void copyLogs(Path from, Path to) throws IOException {
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(from, "*.log")) {
            for (Path log : logs) {
                Files.copy(log, to.resolve(log.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static Path manifest(Path folder) throws IOException {
        return folder.resolve(Files.readString(folder.resolve("CURRENT")).strip());
    }

    private static Path copy(Path from, Path to) throws IOException {
        TestFolders.copy(from, to);
        return to;
    }
}
