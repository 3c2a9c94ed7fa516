package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;

class LongIntMapTest {
    @Test
    void doesWhatAHashMapDoes() {
        var random = new Random(TestSeed.next());
        var map = new LongIntMap();
        Map<Long, Integer> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            long key = ChunkId.of(1 + random.nextInt(20), random.nextInt(30));
            if (random.nextInt(5) < 3) {
                map.put(key, i);
                model.put(key, i);
            } else if (model.remove(key) != null) {
                map.remove(key);
            }
            assertEquals(model.size(), map.size());
            long other = ChunkId.of(1 + random.nextInt(20), random.nextInt(30));
            assertEquals(model.getOrDefault(other, LongIntMap.ABSENT), map.get(other));
        }
        model.forEach((key, value) -> assertEquals(value, map.get(key)));
    }

    @Test
    void aMapOfSteadySizeDoesNotGrow() {
        var map = new LongIntMap();
        for (long key = 1; key <= 100; key++) {
            map.put(key, 0);
        }
        long before = map.heapBytes();
        for (long key = 101; key < 100_000; key++) {
            map.remove(key - 100);
            map.put(key, 0);
        }
        assertEquals(before, map.heapBytes());
    }
}
