package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.FileDirectory;

/** The Map table's database in use: its failures only cost rebuilding it. */
class MapKeeperTest {
    /** Far more than its cache holds, so that its files are read. */
    private static final int ENTRIES = 300_000;

    /** More than wait for the writing thread: so table and database are compared. */
    private static final int FORGOTTEN = 70_000;

    @TempDir
    Path folder;

    private Path database;
    private Segments segments;

    @BeforeEach
    void makeFolders() throws IOException {
        database = folder.resolve("map");
        segments = Segments.open(
                FileDirectory.open(Files.createDirectory(folder.resolve("segments"))), SsdFixture.TIMELINE, null);
    }

    private MapKeeper keeper(MapTable table) throws IOException {
        MapKeeper keeper = new MapKeeper(database, table);
        keeper.load(segments, entry -> true);
        return keeper;
    }

    private static void fill(MapTable table, MapKeeper keeper) throws IOException {
        MapEntry entry = new MapEntry();
        for (int id = 1; id <= ENTRIES; id++) {
            entry.chunkId = id;
            entry.segment = id % 1000;
            entry.offset = 8 * (5 + id);
            entry.length = 8 * (10 + id % 1000);
            table.put(entry);
            keeper.put(entry);
            if (id % 1000 == 0) {
                keeper.commit();
            }
        }
        keeper.commit();
    }

    private static void forgetMany(MapTable table, MapKeeper keeper) {
        MapEntry removed = new MapEntry();
        for (int id = 1; id <= FORGOTTEN; id++) {
            table.remove(id, removed);
            keeper.noteForgotten(id);
        }
    }

    private static Map<Long, String> contents(MapTable table) {
        Map<Long, String> contents = new TreeMap<>();
        table.forEach(e -> contents.put(e.chunkId, e.segment + ":" + e.offset + "+" + e.length));
        return contents;
    }

    /** Every table of the database has a changed byte in each block. */
    private void damage() throws IOException {
        List<Path> tables;
        try (Stream<Path> files = Files.list(database)) {
            tables = files.filter(file -> file.toString().endsWith(".sst")).toList();
        }
        assertTrue(!tables.isEmpty(), "no table was written");
        for (Path table : tables) {
            try (RandomAccessFile file = new RandomAccessFile(table.toFile(), "rw")) {
                for (long at = 100; at < file.length(); at += 1000) {
                    file.seek(at);
                    int old = file.read();
                    file.seek(at);
                    file.write(old ^ 0x21);
                }
            }
        }
    }

    @Test
    void aDatabaseThatIsDamagedInUseIsMadeAnewByTheNextCommitThatMeetsIt() throws IOException {
        MapTable table = new MapTable();
        try (MapKeeper keeper = keeper(table)) {
            fill(table, keeper);
            damage();
            forgetMany(table, keeper);
            keeper.commit();
            keeper.commit();
        }
        MapTable loaded = new MapTable();
        keeper(loaded).close();
        assertEquals(contents(table), contents(loaded));
        assertEquals(ENTRIES - FORGOTTEN, loaded.size());
    }

    @Test
    void aDatabaseThatLacksItsFilesWhenItIsOpenedAgainIsMadeAnew() throws IOException {
        MapTable table = new MapTable();
        try (MapKeeper keeper = keeper(table)) {
            fill(table, keeper);
            // As after a commit that failed.
            keeper.close();
            try (Stream<Path> files = Files.list(database)) {
                for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".sst"))::iterator) {
                    Files.delete(file);
                }
            }
            keeper.commit();
        }
        MapTable loaded = new MapTable();
        keeper(loaded).close();
        assertEquals(contents(table), contents(loaded));
    }

    @Test
    void theControlTheDamageIsMet() throws IOException {
        MapTable table = new MapTable();
        try (MapKeeper keeper = keeper(table)) {
            fill(table, keeper);
        }
        damage();
        assertThrows(CorruptionException.class, () -> {
            try (MapDatabase damaged = MapDatabase.open(database)) {
                damaged.retain(id -> true);
            }
        });
    }
}
