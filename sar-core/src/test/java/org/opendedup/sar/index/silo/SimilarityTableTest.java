package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class SimilarityTableTest {
    @Test
    void aGrowingTableAnswersAsAMap() {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        SimilarityTable table = new SimilarityTable(Long.MAX_VALUE);
        Map<Long, Integer> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            // A quarter of the keys repeats; neighbouring values make long searches.
            long key = 1 + (random.nextInt(4) == 0 ? random.nextInt(2000) : random.nextLong() >>> 1);
            int block = 1 + random.nextInt(100);
            table.put(key, block);
            model.put(key, block);
            long asked = 1 + random.nextInt(4000);
            assertEquals(model.getOrDefault(asked, SimilarityTable.NONE), table.get(asked), "seed " + seed);
        }
        model.forEach((key, block) -> assertEquals(block, table.get(key), "seed " + seed));
        table.forget(7);
        model.forEach((key, block) -> assertEquals(block == 7 ? SimilarityTable.NONE : block, table.get(key)));
    }

    @Test
    void anEntryTakesAtMostTwentyBytesOnceThereAreAThousand() {
        SplittableRandom random = new SplittableRandom(1);
        SimilarityTable table = new SimilarityTable(Long.MAX_VALUE);
        for (int entries = 1; entries <= 200_000; entries++) {
            table.put(random.nextLong() | 1 << 20, 1);
            if (entries > 1000) {
                assertTrue(table.bytes() <= 20 * table.entries(), table.bytes() + " bytes for " + entries);
            }
        }
    }

    @Test
    void aFullTableKeepsItsSizeAndTakesWhatIsNewer() {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        SimilarityTable table = new SimilarityTable(12_000);
        Map<Long, Integer> model = new HashMap<>();
        int kept = 0;
        for (int i = 0; i < 20_000; i++) {
            long key = random.nextLong() | 1 << 20;
            table.put(key, 1 + i % 50);
            model.put(key, 1 + i % 50);
            assertEquals(1 + i % 50, table.get(key), "seed " + seed);
        }
        for (Map.Entry<Long, Integer> entry : model.entrySet()) {
            int found = table.get(entry.getKey());
            assertTrue(found == SimilarityTable.NONE || found == entry.getValue(), "seed " + seed);
            kept += found == SimilarityTable.NONE ? 0 : 1;
        }
        assertTrue(table.bytes() <= 12_000);
        assertEquals(table.entries(), kept, "each entry is still found: seed " + seed);
        assertTrue(kept >= 700, kept + " of 1000 places are in use");
    }
}
