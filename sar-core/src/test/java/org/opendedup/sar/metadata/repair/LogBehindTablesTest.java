package org.opendedup.sar.metadata.repair;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** RocksDB writes the families to tables at different times. A log that is damaged before that would mix two states. */
class LogBehindTablesTest {
    private static final int RECORDS = 5000;

    @MemoryFolder
    private Path folder;

    /** Puts records into two families, and writes one of them to a table. */
    private void fill(boolean flushes) throws IOException, RocksDBException {
        MetadataStore.format(
                        KeyValueStores.openRocksDb(folder, 1 << 20, true),
                        new MetadataHeader(new UUID(1, 2), 4096, 0, MetadataHeader.FORMAT_VERSION))
                .close();
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY));
        for (Family family : Family.values()) {
            descriptors.add(new ColumnFamilyDescriptor(
                    family.name().toLowerCase(Locale.ROOT).getBytes(US_ASCII)));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (DBOptions options = new DBOptions();
                FlushOptions flush = new FlushOptions();
                RocksDB database = RocksDB.open(options, folder.toString(), descriptors, handles)) {
            ColumnFamilyHandle ahead = handles.get(1 + Family.COUNT.ordinal());
            ColumnFamilyHandle behind = handles.get(1 + Family.CONTAINER.ordinal());
            for (int i = 0; i < RECORDS; i++) {
                database.put(behind, key(i), key(i));
                database.put(ahead, key(i), key(i));
            }
            if (flushes) {
                database.flush(flush, ahead);
            }
            database.put(behind, key(RECORDS), key(RECORDS));
            handles.forEach(ColumnFamilyHandle::close);
        }
    }

    private static byte[] key(int number) {
        return String.format(Locale.ROOT, "%08d", number).getBytes(US_ASCII);
    }

    /** Flips a byte in the middle of the largest log. */
    private void damageLog() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            Path log = files.filter(file -> file.toString().endsWith(".log"))
                    .max(Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow();
            byte[] bytes = Files.readAllBytes(log);
            bytes[bytes.length / 2] ^= 1;
            Files.write(log, bytes);
        }
    }

    private LostRecords salvage(KeyValueStore target) throws IOException {
        return MetadataSalvage.copy(folder, target, () -> null, 0, (stage, done, of) -> {});
    }

    @Test
    void aLogThatIsDamagedBeforeWhatATableHasIsRefused() throws IOException, RocksDBException {
        fill(true);
        damageLog();
        CorruptionException refused = assertThrows(CorruptionException.class, () -> salvage(new HeapKeyValueStore()));
        assertTrue(refused.getMessage().contains("logs and tables of one state"), refused.getMessage());
    }

    /** In one log, the changes of both families are in turns: as many of the one as of the other are there. */
    @Test
    void anotherDamagedLogIsReadUpToTheDamage() throws IOException, RocksDBException {
        fill(false);
        damageLog();
        KeyValueStore target = new HeapKeyValueStore();
        LostRecords lost = salvage(target);
        int there = 0;
        while (target.get(Family.CONTAINER, key(there)) != null) {
            there++;
        }
        assertTrue(there > RECORDS / 3 && there < RECORDS * 2 / 3, there + " of " + RECORDS);
        for (int i = there; i <= RECORDS; i++) {
            assertNull(target.get(Family.CONTAINER, key(i)), "behind the damage");
            assertNull(i == there ? null : target.get(Family.COUNT, key(i)), "behind the damage");
        }
        assertTrue(
                lost.told().toString().contains("changes, which were only in the damaged log"), lost.told()::toString);
    }

    @Test
    void aWholeLogLosesNothing() throws IOException, RocksDBException {
        fill(true);
        KeyValueStore target = new HeapKeyValueStore();
        assertEquals(
                List.of("owner, mode and times of the volume's root"),
                salvage(target).told());
        assertArrayEquals(key(RECORDS), target.get(Family.CONTAINER, key(RECORDS)));
    }
}
