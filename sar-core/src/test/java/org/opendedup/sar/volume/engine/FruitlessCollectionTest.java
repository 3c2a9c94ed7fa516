package org.opendedup.sar.volume.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a collection for a full device is repeated after one that gave nothing back. */
class FruitlessCollectionTest {
    private static final long GARBAGE = 1000;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long now = Long.MAX_VALUE - SECOND;
    private final FruitlessCollection collection = new FruitlessCollection(() -> now);

    private void collect(long nanos) {
        long begun = now;
        now += nanos;
        collection.ended(begun, GARBAGE);
    }

    @Test
    void theFirstOneIsNotInVain() {
        assertFalse(collection.wouldBeAgain(0));
    }

    @Test
    void aShortOneIsRepeatedSoon() {
        collect(1000);
        assertTrue(collection.wouldBeAgain(GARBAGE));
        now += FruitlessCollection.LEAST_REST_NS;
        assertFalse(collection.wouldBeAgain(GARBAGE));
    }

    @Test
    void othersAreServedForLongerThanALongOneTook() {
        collect(30 * SECOND);
        now += (FruitlessCollection.REST * 30 - 1) * SECOND;
        assertTrue(collection.wouldBeAgain(GARBAGE));
        now += SECOND;
        assertFalse(collection.wouldBeAgain(GARBAGE));
    }

    @Test
    void moreGarbageIsCollectedAtOnce() {
        collect(30 * SECOND);
        assertTrue(collection.wouldBeAgain(GARBAGE - 1));
        assertFalse(collection.wouldBeAgain(GARBAGE + 1));
    }
}
