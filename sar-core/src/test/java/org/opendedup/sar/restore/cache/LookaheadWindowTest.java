package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class LookaheadWindowTest {
    @Test
    void eachKeyIsKnownWithItsNextReferenceWhileTheWindowSlidesAndGrows() {
        var random = new Random(TestSeed.next());
        var window = new LookaheadWindow();
        List<Long> model = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (model.isEmpty() || random.nextInt(1000) < 501) {
                long key = 1L + random.nextInt(100);
                assertEquals(key, window.key(window.enter(key)));
                model.add(key);
            } else {
                assertEquals(model.get(0), window.key(window.current()));
                assertEquals(model.lastIndexOf(model.get(0)) > 0, window.currentComesAgain());
                window.slide();
                model.remove(0);
            }
            assertEquals(model.size(), window.head() - window.tail());
            long key = 1L + random.nextInt(100);
            int index = model.indexOf(key);
            int entry = window.find(key);
            assertEquals(index < 0, entry == LookaheadWindow.NONE);
            if (index >= 0) {
                assertEquals(window.tail() + index, window.next(entry));
                assertEquals(entry, window.entryAt(window.tail() + index));
            }
        }
    }

    @Test
    void aWindowOfSteadySizeDoesNotGrow() {
        var window = new LookaheadWindow();
        for (long key = 1; key <= 1000; key++) {
            window.enter(key);
        }
        long before = window.heapBytes();
        for (long key = 1001; key < 100_000; key++) {
            window.slide();
            window.enter(key);
        }
        assertEquals(before, window.heapBytes());
    }

    @Test
    void anEmptyWindowHasNoCurrentReference() {
        assertThrows(IllegalStateException.class, () -> new LookaheadWindow().current());
    }
}
