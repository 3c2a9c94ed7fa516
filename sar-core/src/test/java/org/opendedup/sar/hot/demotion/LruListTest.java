package org.opendedup.sar.hot.demotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;

final class LruListTest {
    @Test
    void aSecondReadIsFoundOnceAndTakenOff() {
        LruList list = new LruList(100);
        assertFalse(list.noteRead(5, 4096));
        assertEquals(1, list.size());
        assertEquals(4096, list.bytes());
        assertTrue(list.noteRead(5, 4096));
        assertEquals(0, list.size());
        assertEquals(0, list.bytes());
        assertFalse(list.noteRead(5, 4096));
    }

    @Test
    void aListOfNoItemsRemembersNothing() {
        LruList list = new LruList(0);
        assertFalse(list.noteRead(5, 4096));
        assertFalse(list.noteRead(5, 4096));
        list.clear();
        assertEquals(0, list.size());
        assertEquals(0, list.heapBytes());
        assertThrows(IllegalArgumentException.class, () -> new LruList(-1));
    }

    @Test
    void anItemTakes12Bytes() {
        assertEquals(12_000_000, new LruList(1_000_000).heapBytes());
        assertEquals(1_000_000, new LruList(1_000_000).capacity());
    }

    /** One set: the paper's list. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 16, 31})
    void aSetIsAnLruList(int items) {
        Random random = new Random(TestSeed.next());
        LruList list = new LruList(items);
        LinkedHashMap<Long, Boolean> model = new LinkedHashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long id = 1 + random.nextInt(items * 2);
            boolean present = model.remove(id) != null;
            if (!present) {
                evictOldestIfFull(model, items);
                model.put(id, true);
            }
            assertEquals(present, list.noteRead(id, 1));
            assertEquals(model.size(), list.size());
        }
    }

    /** Many sets, none a multiple of 16 items: as many lists of the model, each for the ids of its set. */
    @Test
    void manySetsAreAsManyLruLists() {
        Random random = new Random(TestSeed.next());
        int items = 1000;
        LruList list = new LruList(items);
        Map<Integer, LinkedHashMap<Long, Boolean>> model = new TreeMap<>();
        int sets = items / 16;
        for (int i = 0; i < 100_000; i++) {
            long id = 1 + random.nextInt(2000);
            int set = list.setOf(id);
            int ways = (set + 1) * items / sets - set * items / sets;
            LinkedHashMap<Long, Boolean> setModel = model.computeIfAbsent(set, s -> new LinkedHashMap<>());
            boolean present = setModel.remove(id) != null;
            if (!present) {
                evictOldestIfFull(setModel, ways);
                setModel.put(id, true);
            }
            assertEquals(present, list.noteRead(id, 1));
        }
        assertEquals(model.values().stream().mapToInt(Map::size).sum(), list.size());
        list.clear();
        assertEquals(0, list.size());
        assertEquals(0, list.bytes());
        assertFalse(list.noteRead(1, 1));
    }

    private static void evictOldestIfFull(LinkedHashMap<Long, Boolean> model, int items) {
        if (model.size() == items) {
            model.remove(model.keySet().iterator().next());
        }
    }

    @Test
    void threadsFindTheirOwnSecondReads() throws Exception {
        LruList list = new LruList(1 << 16);
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try {
            List<Future<Integer>> found = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long base = 1 + t * 1_000_000L;
                found.add(executor.submit(() -> readTwice(list, base)));
            }
            int hits = 0;
            for (Future<Integer> f : found) {
                hits += f.get();
            }
            assertEquals(4 * 10_000, hits);
            assertEquals(0, list.size());
        } finally {
            executor.shutdownNow();
        }
    }

    private static int readTwice(LruList list, long base) {
        int hits = 0;
        for (int i = 0; i < 10_000; i++) {
            hits += list.noteRead(base + i, 4096) ? 1 : 0;
            hits += list.noteRead(base + i, 4096) ? 1 : 0;
        }
        return hits;
    }
}
