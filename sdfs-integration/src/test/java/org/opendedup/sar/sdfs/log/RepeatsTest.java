package org.opendedup.sar.sdfs.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.sdfs.log.Repeats.Kind;
import org.opendedup.sar.sdfs.log.Repeats.Showing;
import org.opendedup.sar.sdfs.log.Repeats.Summary;

class RepeatsTest {
    private static final Kind KIND = new Kind("a", 30000, "{} failed", "");
    private static final Kind OTHER = new Kind("a", 30000, "{} is full", "");

    private final Repeats repeats = new Repeats();

    @Test
    void theFirstIsShownAndTheOthersAreCounted() {
        assertEquals(Showing.WHOLE, repeats.offer(KIND, "x failed"));
        for (int i = 0; i < 2999; i++) {
            assertEquals(Showing.NONE, repeats.offer(KIND, "x failed"));
        }
        assertEquals(List.of(new Summary(KIND, "x failed", 2999, false)), repeats.drain());
        // The event continues: only its count is logged.
        assertEquals(Showing.NONE, repeats.offer(KIND, "x failed"));
        assertEquals(List.of(new Summary(KIND, "x failed", 1, false)), repeats.drain());
        // A quiet period, and it is news again.
        assertEquals(List.of(), repeats.drain());
        assertEquals(Showing.WHOLE, repeats.offer(KIND, "x failed"));
    }

    @Test
    void differentEventsDoNotHideEachOther() {
        repeats.offer(KIND, "x failed");
        assertEquals(Showing.TEXT, repeats.offer(KIND, "y failed"));
        for (int i = 0; i < 1000; i++) {
            repeats.offer(KIND, "file " + i + " failed");
        }
        assertEquals(Showing.WHOLE, repeats.offer(OTHER, "x is full"));
    }

    @Test
    void textsThatAlwaysDifferAreBoundedToo() {
        int shown = 0;
        for (int i = 0; i < 3000; i++) {
            shown += repeats.offer(KIND, "file " + i + " failed") == Showing.NONE ? 0 : 1;
        }
        assertEquals(Repeats.MAX_TEXTS, shown);
        assertEquals(List.of(new Summary(KIND, "file 2999 failed", 3000 - Repeats.MAX_TEXTS, true)), repeats.drain());
    }

    @Test
    void kindsAreBounded() {
        int shown = 0;
        int events = 10 * Repeats.MAX_KINDS;
        for (int i = 0; i < events; i++) {
            shown += repeats.offer(new Kind("a", 30000, "statement " + i, ""), "text " + i) == Showing.NONE ? 0 : 1;
        }
        assertEquals(Repeats.MAX_KINDS + Repeats.MAX_TEXTS, shown);
        assertEquals(
                events - shown,
                repeats.drain().stream().mapToLong(Summary::count).sum());
    }

    @Test
    void noEventIsLostFromTheCount() {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        long shown = 0;
        long counted = 0;
        int events = 100_000;
        for (int i = 0; i < events; i++) {
            Kind kind = new Kind("a", 30000, "statement " + random.nextInt(40), "");
            shown += repeats.offer(kind, "text " + random.nextInt(1 + random.nextInt(60))) == Showing.NONE ? 0 : 1;
            if (random.nextInt(3000) == 0) {
                counted += repeats.drain().stream().mapToLong(Summary::count).sum();
            }
        }
        counted += repeats.drain().stream().mapToLong(Summary::count).sum();
        assertEquals(events, shown + counted, "-Dsar.seed=" + seed);
        assertTrue(shown < events / 2, "-Dsar.seed=" + seed + ": " + shown + " were shown");
    }
}
