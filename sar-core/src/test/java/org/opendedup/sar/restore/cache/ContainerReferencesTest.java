package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class ContainerReferencesTest {
    private final Random random = new Random(TestSeed.next());

    @Test
    void theFilterCountsNoFewerThanThereAreBelowSaturation() {
        var exact = new ExactReferences();
        var bloom = new BloomReferences(256, 100);
        slide(exact, bloom, 50_000, 60);
        int more = 0;
        for (int container = 1; container <= 1000; container++) {
            int count = exact.count(container);
            assertTrue(bloom.count(container) >= Math.min(count, 255));
            more += bloom.count(container) > count ? 1 : 0;
        }
        assertTrue(more < 200, more + " of 1000 containers have collisions");
    }

    @Test
    void aFilterWithFewCountersCountsTooMany() {
        // The control of the bound above.
        var exact = new ExactReferences();
        var bloom = new BloomReferences(64, 100);
        slide(exact, bloom, 50_000, 200);
        int more = 0;
        for (int container = 1; container <= 1000; container++) {
            more += bloom.count(container) > exact.count(container) ? 1 : 0;
        }
        assertTrue(more > 500, more + " of 1000 containers have collisions");
    }

    private void slide(ContainerReferences exact, ContainerReferences bloom, int references, int window) {
        Deque<Long> inWindow = new ArrayDeque<>();
        for (int i = 0; i < references; i++) {
            long container = 1 + (long) (1000 * Math.pow(random.nextDouble(), 3));
            inWindow.add(container);
            exact.add(container);
            bloom.add(container);
            if (inWindow.size() > window) {
                long left = inWindow.remove();
                exact.remove(left);
                bloom.remove(left);
            }
        }
    }

    @Test
    void countersAreAsWideAsThePaperSaysAndWiderForLargerContainers() {
        // 2 MB of 8 KiB chunks: 5 % are 13 chunks; 4 MiB: 26; 64 MiB: 410.
        assertEquals(4, new BloomReferences(64, 13).counterBits());
        assertEquals(8, new BloomReferences(64, 26).counterBits());
        assertEquals(16, new BloomReferences(64, 410).counterBits());
        assertThrows(IllegalArgumentException.class, () -> new BloomReferences(64, 1 << 16));
    }

    @Test
    void aSaturatedCounterForgetsWhatItDidNotCount() {
        var bloom = new BloomReferences(64, 13);
        for (int i = 0; i < 20; i++) {
            bloom.add(7);
        }
        assertEquals(15, bloom.count(7));
        for (int left = 1; left <= 20; left++) {
            bloom.remove(7);
            assertEquals(Math.max(0, 15 - left), bloom.count(7));
        }
        bloom.add(7);
        assertEquals(1, bloom.count(7));
    }

    /** Containers that saturate their counters leave the window and return; each is then counted as if it were new. */
    @Test
    void theFilterIsEmptyWhenTheWindowIs() {
        var exact = new ExactReferences();
        var bloom = new BloomReferences(256, 13);
        for (int round = 0; round < 20; round++) {
            List<Long> window = new ArrayList<>();
            int saturated = 0;
            for (int i = 0; i < 3000; i++) {
                long container = 1 + random.nextInt(100);
                window.add(container);
                exact.add(container);
                bloom.add(container);
                saturated += bloom.count(container) == 15 ? 1 : 0;
            }
            assertTrue(saturated > 0);
            Collections.shuffle(window, random);
            for (long container : window) {
                exact.remove(container);
                bloom.remove(container);
            }
            for (int container = 1; container <= 100; container++) {
                assertEquals(0, exact.count(container));
                assertEquals(0, bloom.count(container));
            }
        }
    }

    @Test
    void exactCountsRefuseToTakeOffWhatIsNotThere() {
        assertThrows(IllegalStateException.class, () -> new ExactReferences().remove(1));
    }
}
