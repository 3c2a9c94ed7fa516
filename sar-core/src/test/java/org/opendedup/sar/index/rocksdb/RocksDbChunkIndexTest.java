package org.opendedup.sar.index.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

class RocksDbChunkIndexTest extends ChunkIndexContract {
    @Override
    protected ChunkIndex open() throws IOException {
        return ChunkIndexes.openRocksDb(folder.resolve("hashdb"), ChunkIndexes.MIN_MEMORY_BYTES);
    }

    @Test
    void tooLittleMemoryIsRefusedWithTheLeastThatWillDo() {
        Exception e = assertThrows(
                IllegalArgumentException.class, () -> ChunkIndexes.openRocksDb(folder.resolve("other"), 1000));
        assertTrue(e.getMessage().contains(Long.toString(ChunkIndexes.MIN_MEMORY_BYTES)), e.getMessage());
    }

    @Test
    void anUnknownFormatVersionIsRefused() throws Exception {
        index.close();
        putRaw(IndexKeys.FORMAT_VERSION, new byte[] {9});

        IOException e = assertThrows(UnsupportedFormatException.class, this::open);

        assertTrue(e.getMessage().contains("version 9"), e.getMessage());
    }

    @Test
    void aDatabaseOfSomethingElseIsRefused() throws Exception {
        index.close();
        ChunkIndexes.destroy(IndexClass.ROCKSDB, folder.resolve("hashdb"));
        putRaw(new byte[] {'x'}, new byte[1]);

        IOException refusal = assertThrows(IOException.class, this::open);
        assertFalse(refusal instanceof CorruptionException, "what is damaged is deleted, and this must not be");
    }

    @Test
    void aDamagedDatabaseIsReportedAndCanBeDestroyedAndMadeAnew() throws IOException {
        index.cover(1, new byte[10]);
        index.close();
        for (Path file : TestFolders.files(folder.resolve("hashdb"))) {
            if (file.toString().endsWith(".sst")) {
                Files.write(file, new byte[] {1, 2, 3});
            }
        }

        assertThrows(CorruptionException.class, this::open);

        ChunkIndexes.destroy(IndexClass.ROCKSDB, folder.resolve("hashdb"));
        index = open();
        assertNull(index.frameTable(1));
    }

    @Test
    void destroyingWhatIsNotThereIsNoError() throws IOException {
        ChunkIndexes.destroy(IndexClass.ROCKSDB, folder.resolve("nothing"));
        assertFalse(Files.exists(folder.resolve("nothing")));
    }

    /** Stores 300 chunks in container 1, and covers it. */
    private void fill() throws IOException {
        for (int slot = 0; slot < 300; slot++) {
            index.insert(TestSegments.fingerprint(slot), 0, ChunkId.of(1, slot));
        }
        index.cover(1, new byte[10]);
    }

    @Test
    void aDuplicateStreamIsFoundThroughTheContainersFingerprintRecords() throws Exception {
        fill();
        index.close();
        for (int slot = 100; slot < 300; slot++) {
            deleteRaw(IndexKeys.fingerprint(TestSegments.fingerprint(slot), 0));
        }
        index = open();
        var segment = TestSegments.of(0, 300);

        index.lookup(segment);

        assertEquals(ChunkId.of(1, 299), segment.chunkId(299));
    }

    @Test
    void removedSlotsAreNotInTheContainersFingerprintRecord() throws Exception {
        fill();
        index.close();
        // The record has no entry for these: their own records decide.
        deleteRaw(IndexKeys.containerFingerprints(1));
        index = open();
        removeEvenSlots(1, 100);
        assertEvenSlotsGone(index, 100);
        fill();
        removeEvenSlots(1, 300);
        index.close();
        try (Options options = new Options();
                RocksDB db =
                        RocksDB.openReadOnly(options, folder.resolve("hashdb").toString())) {
            byte[] record = db.get(IndexKeys.containerFingerprints(1));
            assertEquals(150 * 34, record.length);
            for (int at = 0; at < record.length; at += 34) {
                assertEquals(1, record[at] & 1);
            }
        }
        index = open();
        assertEvenSlotsGone(index, 300);
    }

    @Test
    void afterACrashARemovalIsThereOrIsNotAndTheOtherSlotsAreFound() throws Exception {
        fill();
        index.flush();
        removeEvenSlots(1, 300);
        try (ChunkIndex before = openCopy("lost")) {
            var segment = TestSegments.of(0, 300);
            before.lookup(segment);
            for (int slot = 0; slot < 300; slot++) {
                assertEquals(ChunkId.of(1, slot), segment.chunkId(slot));
            }
        }
        index.flush();
        try (ChunkIndex after = openCopy("kept")) {
            assertEvenSlotsGone(after, 300);
        }
    }

    /** Opens the files as a crash leaves them: without what is only in memory. */
    private ChunkIndex openCopy(String name) throws IOException {
        int attempt = 0;
        while (true) {
            Path copy = Files.createDirectory(folder.resolve(name + attempt++));
            List<Path> before = TestFolders.files(folder.resolve("hashdb"));
            try {
                for (Path file : before) {
                    Files.copy(file, copy.resolve(file.getFileName()));
                }
            } catch (NoSuchFileException e) {
                // A compaction deleted it in between: such a copy is of no moment.
                continue;
            }
            if (before.equals(TestFolders.files(folder.resolve("hashdb")))) {
                return ChunkIndexes.openRocksDb(copy, ChunkIndexes.MIN_MEMORY_BYTES);
            }
        }
    }

    private static void assertEvenSlotsGone(ChunkIndex index, int count) throws IOException {
        var segment = TestSegments.of(0, count);
        index.lookup(segment);
        for (int slot = 0; slot < count; slot++) {
            assertEquals(slot % 2 == 0 ? ChunkId.NONE : ChunkId.of(1, slot), segment.chunkId(slot));
        }
    }

    @Test
    void theRecordsAreAsTheFormatSays() throws Exception {
        byte[] fingerprint = TestSegments.fingerprint(77);
        index.insert(fingerprint, 0, ChunkId.of(0x0102030405L, 0x0607));
        index.cover(0x0102030405L, new byte[] {42});
        index.stamp(new Epoch(new UUID(1, 2), 3, 4));
        index.close();
        String hex = HexFormat.of().formatHex(fingerprint);

        Map<String, String> records = new TreeMap<>();
        try (Options options = new Options();
                RocksDB db =
                        RocksDB.openReadOnly(options, folder.resolve("hashdb").toString());
                RocksIterator all = db.newIterator()) {
            for (all.seekToFirst(); all.isValid(); all.next()) {
                records.put(HexFormat.of().formatHex(all.key()), HexFormat.of().formatHex(all.value()));
            }
        }

        Map<String, String> expected = Map.of(
                "56",
                "02",
                "45",
                "0000000000000001000000000000000200000000000000030000000000000004",
                "48",
                "0000000102030405",
                "43" + "0000000102030405",
                "2a",
                "44" + "0000000102030405",
                "0706" + hex,
                "46" + hex,
                "0706050403020100");
        assertEquals(new TreeMap<>(expected), records);
    }

    private void putRaw(byte[] key, byte[] value) throws RocksDBException {
        try (Options options = new Options().setCreateIfMissing(true);
                RocksDB db = RocksDB.open(options, folder.resolve("hashdb").toString())) {
            db.put(key, value);
        }
    }

    private void deleteRaw(byte[] key) throws RocksDBException {
        try (Options options = new Options();
                RocksDB db = RocksDB.open(options, folder.resolve("hashdb").toString())) {
            db.delete(key);
        }
    }
}
