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
        collection.ended(begun, GARBAGE, 3);
    }

    @Test
    void theFirstOneIsNotInVain() {
        assertFalse(collection.wouldBeAgain(0, 3));
    }

    @Test
    void aShortOneIsRepeatedSoon() {
        collect(1000);
        assertTrue(collection.wouldBeAgain(GARBAGE, 3));
        now += FruitlessCollection.LEAST_REST_NS;
        assertFalse(collection.wouldBeAgain(GARBAGE, 3));
    }

    @Test
    void othersAreServedForLongerThanALongOneTook() {
        collect(30 * SECOND);
        now += (FruitlessCollection.REST * 30 - 1) * SECOND;
        assertTrue(collection.wouldBeAgain(GARBAGE, 3));
        now += SECOND;
        assertFalse(collection.wouldBeAgain(GARBAGE, 3));
    }

    @Test
    void moreGarbageIsCollectedAtOnce() {
        collect(30 * SECOND);
        assertTrue(collection.wouldBeAgain(GARBAGE - 1, 3));
        assertFalse(collection.wouldBeAgain(GARBAGE + 1, 3));
    }

    /** A collection with another limit gave some of the garbage back; then files were deleted. */
    @Test
    void newGarbageIsCollectedAlsoIfThereIsLessThanBefore() {
        collect(30 * SECOND);
        assertFalse(collection.wouldBeAgain(GARBAGE / 2, 4));
        assertTrue(collection.wouldBeAgain(GARBAGE / 2, 3), "the control");
    }

    /** What was garbage is referred to again; then files are deleted. */
    @Test
    void garbageThatGrowsAgainIsCollected() {
        collect(30 * SECOND);
        assertTrue(collection.wouldBeAgain(GARBAGE / 4, 3));
        assertFalse(collection.wouldBeAgain(GARBAGE / 2, 3));
    }
}
