package org.opendedup.sar.sim.block;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LongIntMapTest {
    @Test
    void doesWhatAHashMapDoes() {
        long seed = Long.getLong("sar.seed", System.nanoTime());
        System.out.println("LongIntMapTest: -Dsar.seed=" + seed);
        Random random = new Random(seed);
        Map<Long, Integer> model = new HashMap<>();
        LongIntMap map = new LongIntMap();
        for (int step = 0; step < 300_000; step++) {
            long key = random.nextInt(5000) * 1024L;
            if (random.nextInt(5) < 2) {
                map.remove(key);
                model.remove(key);
            } else {
                map.put(key, step);
                model.put(key, step);
            }
            long asked = random.nextInt(5000) * 1024L;
            assertEquals(model.getOrDefault(asked, LongIntMap.ABSENT), map.get(asked));
            assertEquals(model.size(), map.size());
        }
    }
}
