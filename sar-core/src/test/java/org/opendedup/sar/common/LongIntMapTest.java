package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class LongIntMapTest {
    @Test
    void doesWhatAHashMapDoes() {
        var random = new Random(TestSeed.next());
        var map = new LongIntMap();
        Map<Long, Integer> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            long key = anyKey(random);
            if (random.nextInt(5) < 3) {
                map.put(key, i);
                model.put(key, i);
            } else {
                assertEquals(model.remove(key) != null, map.remove(key));
            }
            assertEquals(model.size(), map.size());
            long other = anyKey(random);
            assertEquals(model.getOrDefault(other, LongIntMap.ABSENT), map.get(other));
        }
        model.forEach((key, value) -> assertEquals(value, map.get(key)));
        Set<Long> keys = new HashSet<>();
        map.forEachKey(keys::add);
        assertEquals(model.keySet(), keys);
    }

    /** Of chunks mostly; 0 and negative ones too. */
    private static long anyKey(Random random) {
        int container = random.nextInt(20);
        return container == 0 ? -random.nextInt(3) * 2L : ChunkId.of(container, random.nextInt(30));
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
