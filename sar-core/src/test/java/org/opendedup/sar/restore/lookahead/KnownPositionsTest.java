package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How many positions are remembered of readers that read here and there. */
class KnownPositionsTest {
    private static final int REQUEST_BYTES = 4096;
    private static final int READERS = 1000;
    private static final int MOST = 200;

    private final AtomicInteger known = new AtomicInteger();

    private ReadPositions readHereAndThere() {
        ReadPositions positions = new ReadPositions(known, MOST);
        for (int i = 1; i <= 2 * ReadPositions.MOST_KNOWN; i++) {
            positions.note((long) i << 30, REQUEST_BYTES);
        }
        return positions;
    }

    @Test
    void oneReaderHasMany() {
        ReadPositions positions = readHereAndThere();
        assertEquals(ReadPositions.MOST_KNOWN, known.get());
        positions.forgetAll();
        assertEquals(0, known.get());
    }

    @Test
    void eachOfManyReadersHasFew() {
        List<ReadPositions> all = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            all.add(readHereAndThere());
        }
        int most = MOST + READERS * ReadPositions.FEW_KNOWN;
        assertTrue(known.get() <= most, () -> known + " positions");
        all.forEach(ReadPositions::forgetAll);
        assertEquals(0, known.get());
    }

    @Test
    void positionsThatAreMergedCountOnce() {
        ReadPositions positions = new ReadPositions(known, MOST);
        long read = 0;
        while (read < 1 << 20) {
            positions.note(read, REQUEST_BYTES);
            read += REQUEST_BYTES;
        }
        assertEquals(1, known.get());
        positions.forgetAll();
        assertEquals(0, known.get());
    }
}
