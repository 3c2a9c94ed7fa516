package org.opendedup.sar.metadata.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class ContinuationsTest {
    private static final int SLOTS = 300;

    @Test
    void theyAreWhatAMapWouldHave() {
        Random random = new Random(TestSeed.next());
        Continuations continuations = new Continuations();
        Map<Integer, Integer> model = new TreeMap<>();
        for (int step = 0; step < 5000; step++) {
            int slot = random.nextInt(SLOTS);
            int now = model.getOrDefault(slot, 0);
            int delta = random.nextInt(3) - Math.min(now, random.nextInt(3));
            continuations.add(slot, delta);
            model.put(slot, now + delta);
        }
        Continuations copy = continuations.copy();
        continuations.add(7, 1);
        for (int slot = 0; slot < SLOTS; slot++) {
            assertEquals(model.getOrDefault(slot, 0), copy.count(slot), "slot " + slot);
        }
        assertEquals(copy.count(7) + 1, continuations.count(7), "a copy stands for itself");
    }

    @Test
    void noneFallsBelowZero() {
        Continuations continuations = new Continuations();
        continuations.add(3, 2);
        assertThrows(IllegalStateException.class, () -> continuations.add(3, -3));
        assertThrows(IllegalStateException.class, () -> continuations.add(4, -1));
        continuations.add(3, -2);
        assertEquals(0, continuations.count(3));
    }
}
