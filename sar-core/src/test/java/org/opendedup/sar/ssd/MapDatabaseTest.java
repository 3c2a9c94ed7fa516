package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;

final class MapDatabaseTest {
    @TempDir
    Path folder;

    private static MapEntry random(Random random, long chunkId) {
        MapEntry entry = new MapEntry();
        entry.chunkId = chunkId;
        entry.segment = random.nextInt(65536);
        entry.offset = random.nextInt(1 << 23) * 8;
        entry.length = 8 * random.nextInt(65536);
        entry.count = random.nextInt(65536);
        entry.saving = random.nextInt(65536);
        return entry;
    }

    private static String line(MapEntry e) {
        return e.segment + " " + e.offset + " " + e.length + " " + e.count + " " + e.saving;
    }

    private Map<Long, String> contents() throws IOException {
        Map<Long, String> found = new HashMap<>();
        try (MapDatabase database = MapDatabase.open(folder)) {
            database.forEach(e -> found.put(e.chunkId, line(e)));
        }
        return found;
    }

    @Test
    void whatWasCommittedIsThereAgainAndWhatIsNotRetainedIsNot() throws IOException {
        Random random = new Random(TestSeed.next());
        Map<Long, String> model = new HashMap<>();
        try (MapDatabase database = MapDatabase.open(folder)) {
            for (int i = 0; i < 20_000; i++) {
                long id = 1 + random.nextInt(10_000);
                if (random.nextInt(4) == 0) {
                    database.remove(id);
                    model.remove(id);
                } else {
                    MapEntry entry = random(random, id);
                    database.put(entry);
                    model.put(id, line(entry));
                }
                if (i % 100 == 0) {
                    database.commit();
                }
            }
            database.commit();
        }
        assertEquals(model, contents());
        try (MapDatabase database = MapDatabase.open(folder)) {
            database.retain(id -> id % 10 == 0);
            database.commit();
        }
        model.keySet().removeIf(id -> id % 10 != 0);
        assertEquals(model, contents());
    }

    @Test
    void manyEntriesAreLoadedFastAndTakeLittleRoom() throws IOException {
        int entries = Integer.getInteger("sar.entries", 100_000);
        Random random = new Random(TestSeed.next());
        try (MapDatabase database = MapDatabase.open(folder)) {
            for (int id = 1; id <= entries; id++) {
                database.put(random(random, id * 7L));
                if (id % 1000 == 0) {
                    database.commit();
                }
            }
            database.commit();
        }
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        MapTable table = new MapTable();
        try (MapDatabase database = MapDatabase.open(folder)) {
            database.forEach(table::put);
        }
        System.out.printf(
                "Map database: %d entries loaded in %d ms of CPU time, %.1f bytes each%n",
                entries,
                (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1_000_000,
                (double) MapDatabase.bytes(folder) / entries);
        assertEquals(entries, table.size());
        assertTrue(MapDatabase.bytes(folder) <= entries * 40L + (2 << 20));
    }
}
