package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;

final class MapTableTest {
    /** The expected values of an entry. */
    private record Line(int segment, int offset, int length, int count, int saving, int heat) {
        static Line of(MapEntry e) {
            return new Line(e.segment, e.offset, e.length, e.count, e.saving, e.heat);
        }

        Line wanted(int newCount, int newSaving) {
            return new Line(
                    segment,
                    offset,
                    length,
                    Math.max(count, newCount),
                    Math.max(saving, newSaving),
                    Math.min(255, heat + 1));
        }

        Line older() {
            return new Line(segment, offset, length, count, saving, heat / 2);
        }
    }

    private static MapEntry randomEntry(Random random, long chunkId) {
        MapEntry entry = new MapEntry();
        entry.chunkId = chunkId;
        entry.segment = random.nextInt(65536);
        entry.offset = random.nextInt(1 << 24) * 8;
        entry.length = random.nextInt(65536) * 8;
        entry.count = random.nextInt(65536);
        entry.saving = random.nextInt(65536);
        entry.heat = random.nextInt(256);
        return entry;
    }

    private static MapEntry entry(long chunkId) {
        return randomEntry(new Random(chunkId), chunkId);
    }

    @Test
    void aTableThatOnlyGrowsTakesAtMost24BytesAnEntry() {
        MapTable table = new MapTable();
        double most = 0;
        for (int i = 1; i <= 400_000; i++) {
            table.put(entry(ChunkId.of(1 + i / 500, i % 500)));
            if (i >= 100_000 && i % 97 == 0) {
                most = Math.max(most, (double) table.heapBytes() / i);
            }
        }
        System.out.printf("Map table: at most %.2f bytes an entry%n", most);
        assertTrue(most <= 24, most + " bytes an entry");
    }

    @Test
    void theHeapHoldsNoMoreThanTheTableSays() throws Exception {
        int entries = 3_000_000;
        long before = bytesOfArrays();
        MapTable table = new MapTable();
        MapEntry entry = new MapEntry();
        for (int i = 1; i <= entries; i++) {
            entry.chunkId = i;
            table.put(entry);
        }
        double measured = (double) (bytesOfArrays() - before) / entries;
        System.out.printf("Map table: %.2f bytes an entry of the heap%n", measured);
        assertTrue(measured <= 24, measured + " bytes an entry");
        // The control: the measurement includes the table at all.
        assertTrue(measured > 20, measured + " bytes an entry");
        assertEquals(entries, table.size());
        Reference.reachabilityFence(table);
    }

    /**
     * Returns the bytes of all living arrays of numbers. The used heap also has free parts of the collector's regions.
     */
    private static long bytesOfArrays() throws JMException {
        Object histogram = ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return ((String) histogram)
                .lines()
                .map(line -> line.trim().split("\\s+"))
                .filter(words -> words.length > 3 && (words[3].equals("[J") || words[3].equals("[I")))
                .mapToLong(words -> Long.parseLong(words[2]))
                .sum();
    }

    @Test
    void aTableFromWhichMuchWasRemovedShrinks() {
        MapTable table = new MapTable();
        MapEntry removed = new MapEntry();
        for (int i = 1; i <= 100_000; i++) {
            table.put(entry(i));
        }
        for (int i = 1; i <= 90_000; i++) {
            assertTrue(table.remove(i, removed));
        }
        assertTrue(table.heapBytes() <= 10_000 * 30, table.heapBytes() + " bytes");
        for (int i = 90_001; i <= 100_000; i++) {
            assertTrue(table.contains(i));
        }
    }

    @Test
    void behavesAsAHashMapUnderRandomOperations() {
        Random random = new Random(TestSeed.next());
        Listening listening = new Listening();
        MapTable table = new MapTable(listening);
        Map<Long, Line> model = new HashMap<>();
        MapEntry got = new MapEntry();
        for (int i = 0; i < 300_000; i++) {
            // Phases of growing and shrinking, with few ids, so that ids repeat.
            boolean growing = i / 50_000 % 2 == 0;
            long id = ChunkId.of(1 + random.nextInt(40), random.nextInt(200));
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    if (growing) {
                        MapEntry entry = randomEntry(random, id);
                        table.put(entry);
                        model.put(id, Line.of(entry));
                    } else {
                        assertEquals(model.remove(id) != null, table.remove(id, got));
                    }
                }
                case 2 -> {
                    Line line = model.get(id);
                    boolean elsewhere = random.nextInt(4) == 0;
                    int segment = line == null ? 1 : line.segment() ^ (elsewhere ? 1 : 0);
                    boolean removes = line != null && !elsewhere;
                    assertEquals(removes, table.removeIfAt(id, segment, line == null ? 0 : line.offset(), got));
                    if (removes) {
                        assertEquals(line, Line.of(got));
                        model.remove(id);
                    }
                }
                case 3 -> {
                    int count = random.nextInt(100_000);
                    table.noteWanted(id, count, 7);
                    model.computeIfPresent(id, (k, line) -> line.wanted(Math.min(65535, count), 7));
                }
                default -> {
                    Line line = model.get(id);
                    assertEquals(line != null, table.get(id, got));
                    assertEquals(line != null, table.contains(id));
                    if (line != null) {
                        assertEquals(line, Line.of(got));
                        assertEquals(id, got.chunkId);
                    }
                }
            }
            if (i % 20_000 == 0) {
                table.age();
                model.replaceAll((k, line) -> line.older());
                assertSame(model, table);
                assertEquals(model.values().stream().mapToLong(Line::length).sum(), listening.liveBytes);
            }
        }
        assertSame(model, table);
    }

    /** Counts the bytes of all entries as the table tells of them. */
    private static final class Listening implements MapTable.Listener {
        long liveBytes;

        @Override
        public void onAdded(int segment, int lengthBytes) {
            liveBytes += lengthBytes;
        }

        @Override
        public void onRemoved(int segment, int lengthBytes) {
            liveBytes -= lengthBytes;
        }

        @Override
        public void onForgotten(long chunkId) {}
    }

    private static void assertSame(Map<Long, Line> model, MapTable table) {
        Map<Long, Line> found = new HashMap<>();
        table.forEach(e -> found.put(e.chunkId, Line.of(e)));
        assertEquals(model, found);
        assertEquals(model.size(), table.size());
    }

    @Test
    void valuesOutOfRangeAreCutAndPlacesOutOfRangeRefused() {
        MapTable table = new MapTable();
        MapEntry entry = entry(7);
        entry.count = 1 << 20;
        entry.saving = 1 << 20;
        entry.heat = 1 << 20;
        table.put(entry);
        MapEntry got = new MapEntry();
        assertTrue(table.get(7, got));
        assertEquals(65535, got.count);
        assertEquals(65535, got.saving);
        assertEquals(255, got.heat);
        table.noteWanted(7, Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertTrue(table.get(7, got));
        assertEquals(255, got.heat);

        entry.segment = 1 << 16;
        assertThrows(IllegalArgumentException.class, () -> table.put(entry));
        entry.segment = 0;
        entry.offset = 4;
        assertThrows(IllegalArgumentException.class, () -> table.put(entry));
        entry.offset = 0;
        entry.length = 1 << 20;
        assertThrows(IllegalArgumentException.class, () -> table.put(entry));
        entry.chunkId = 0;
        assertThrows(IllegalArgumentException.class, () -> table.put(entry));
    }

    @Test
    void aMoveKeepsWhatIsKnownOfAChunkAndNeedsItsOldPlace() {
        MapTable table = new MapTable();
        MapEntry entry = entry(9);
        table.put(entry);
        MapEntry to = new MapEntry();
        to.chunkId = 9;
        to.segment = 3;
        to.offset = 64;
        to.length = entry.length;
        assertFalse(table.moveIfAt(entry.segment, entry.offset + 8, to));
        assertTrue(table.moveIfAt(entry.segment, entry.offset, to));
        MapEntry got = new MapEntry();
        assertTrue(table.get(9, got));
        assertEquals(new Line(3, 64, entry.length, entry.count, entry.saving, entry.heat), Line.of(got));
    }

    @Test
    void aVisitorMayChangeTheTable() {
        MapTable table = new MapTable();
        for (int i = 1; i <= 10_000; i++) {
            table.put(entry(i));
        }
        Set<Long> seen = new HashSet<>();
        MapEntry removed = new MapEntry();
        table.forEach(e -> {
            assertTrue(seen.add(e.chunkId));
            table.remove(e.chunkId, removed);
        });
        assertEquals(10_000, seen.size());
        assertEquals(0, table.size());
    }

    @Test
    void threadsDoNotDisturbEachOthersEntries() throws Exception {
        MapTable table = new MapTable();
        long seed = TestSeed.next();
        int threads = 4;
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Map<Long, Line>>> models = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int own = t;
                models.add(executor.submit(() -> worker(table, new Random(seed + own), own, threads)));
            }
            Map<Long, Line> all = new HashMap<>();
            for (Future<Map<Long, Line>> model : models) {
                all.putAll(model.get());
            }
            assertSame(all, table);
        } finally {
            executor.shutdownNow();
        }
    }

    /** Changes entries with its own ids, in all stripes, and checks them. */
    private static Map<Long, Line> worker(MapTable table, Random random, int own, int threads) {
        Map<Long, Line> model = new HashMap<>();
        MapEntry got = new MapEntry();
        for (int i = 0; i < 60_000; i++) {
            long id = 1 + own + (long) threads * random.nextInt(5_000);
            if (random.nextInt(3) > 0) {
                MapEntry entry = randomEntry(random, id);
                table.put(entry);
                model.put(id, Line.of(entry));
            } else {
                assertEquals(model.remove(id) != null, table.remove(id, got));
            }
            if (i % 10_000 == 0) {
                table.forEach(e -> assertTrue(e.chunkId > 0));
            }
            assertEquals(model.containsKey(id), table.get(id, got));
        }
        return model;
    }
}
