package org.opendedup.sar.volume.chunks;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentlyUnreferencedTest {
    private static final int GRACE = 100;

    private final AtomicLong clock = new AtomicLong(1);

    private RecentlyUnreferenced newSet(int grace, boolean mapsDecide) {
        RecentlyUnreferenced made = new RecentlyUnreferenced(grace, clock::get, 3, mapsDecide);
        clock.addAndGet(2L * grace);
        return made;
    }

    private static void beginRecounted(RecentlyUnreferenced recent) {
        assertTrue(recent.beginCollection());
        recent.recounted();
    }

    @Test
    void whatLostItsReferenceWithinTheGracePeriodIsKept() {
        RecentlyUnreferenced recent = newSet(GRACE, false);
        recent.note(1);
        clock.addAndGet(GRACE - 1);
        assertFalse(recent.beginCollection(), "counts that decide need no recount");
        assertTrue(recent.keeps(1));
        assertFalse(recent.keeps(2));
        clock.addAndGet(GRACE + 1);
        assertFalse(recent.keeps(1));
    }

    @Test
    void whenASetIsFullAllIsKept() {
        RecentlyUnreferenced recent = newSet(GRACE, false);
        for (int chunk = 0; chunk < 4; chunk++) {
            recent.note(chunk);
        }
        assertTrue(recent.keeps(99));
        clock.addAndGet(2 * GRACE);
        assertFalse(recent.keeps(99));
    }

    @Test
    void withoutARecountAllIsKept() {
        RecentlyUnreferenced recent = newSet(GRACE, true);
        assertTrue(recent.keeps(1), "no collection");
        assertTrue(recent.beginCollection());
        assertTrue(recent.keeps(1), "not recounted yet");
        recent.endCollection();
        beginRecounted(recent);
        assertFalse(recent.keeps(1));
        recent.endCollection();
        assertTrue(recent.keeps(1));
    }

    @Test
    void whatLosesItsReferenceAfterARecountIsKeptUntilTheNextOne() {
        for (int grace : new int[] {0, GRACE}) {
            RecentlyUnreferenced recent = newSet(grace, true);
            assertTrue(recent.beginCollection());
            recent.note(1);
            recent.recounted();
            for (int step = 2; step < 6; step++) {
                clock.addAndGet(2L * grace + 1);
                if (step < 4) {
                    recent.note(step);
                }
                assertTrue(recent.keeps(1), "however long the collection takes");
                assertFalse(recent.keeps(99));
            }
            recent.endCollection();
            beginRecounted(recent);
            assertFalse(recent.keeps(1));
        }
    }

    @Test
    void aRecountServesForAGracePeriod() {
        RecentlyUnreferenced recent = newSet(GRACE, true);
        beginRecounted(recent);
        recent.endCollection();
        clock.addAndGet(GRACE - 1);
        assertFalse(recent.beginCollection());
        assertFalse(recent.keeps(1));
        recent.endCollection();
        clock.addAndGet(1);
        assertTrue(recent.beginCollection());
    }
}
