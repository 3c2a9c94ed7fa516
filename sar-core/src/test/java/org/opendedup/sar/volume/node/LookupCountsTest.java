package org.opendedup.sar.volume.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class LookupCountsTest {
    private final LookupCounts counts = new LookupCounts();

    @Test
    void countsAreWhatWasSetLastThroughGrowthAndShrinking() {
        Random random = new Random(TestSeed.next());
        Map<Long, Long> model = new HashMap<>();
        for (int phase = 0; phase < 4; phase++) {
            for (int i = 0; i < 50_000; i++) {
                long inode = inode(random);
                long count = random.nextInt(4) < (phase % 2 == 0 ? 1 : 4) ? 0 : count(random);
                counts.set(inode, count);
                model.put(inode, count);
            }
            model.forEach((inode, count) -> assertEquals(count, counts.get(inode)));
            assertEquals(model.values().stream().filter(count -> count > 0).count(), counts.size());
        }
        model.keySet().forEach(inode -> counts.set(inode, 0));
        assertEquals(0, counts.size());
    }

    /** Half of them neighbours, half of them random. */
    private static long inode(Random random) {
        return random.nextBoolean() ? random.nextInt(20_000) : (random.nextLong() & Long.MAX_VALUE) % 1_000_000_007L;
    }

    /** Most of them fit in a byte. */
    private static long count(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> 1L + random.nextInt(Integer.MAX_VALUE);
            case 1 -> 256L * (1 + random.nextInt(4));
            default -> 1L + random.nextInt(255);
        };
    }

    @Test
    void aCountBelowZeroIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> counts.set(2, -1));
    }
}
