package org.opendedup.sar.sim.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class SyntheticTraceTest {
    private static final TraceProfile HOMES = TraceProfile.named("homes");

    /** A number that differs when any request does. */
    private static long digest(long seed) {
        SyntheticTrace trace = new SyntheticTrace(HOMES, 1, seed);
        BlockRequest request = new BlockRequest();
        long digest = 0;
        while (trace.next(request)) {
            digest = Mixing.mix(digest + request.timeNanos() + (request.isWrite() ? 1 : 0));
            for (int i = 0; i < request.count(); i++) {
                digest = Mixing.mix(digest + request.firstBlock() + request.content(i));
            }
        }
        return digest;
    }

    @Test
    void theSameSeedMakesTheSameRequestsAndAnotherSeedOthers() {
        assertEquals(digest(1), digest(1));
        assertNotEquals(digest(1), digest(2));
    }

    @Test
    void aWeekMeetsWhatWasPublished() {
        List<Calibration.Match> matches = Calibration.of(HOMES, 3);
        assertEquals(7, matches.size());
        for (Calibration.Match match : matches) {
            assertTrue(Math.abs(match.deviationPercent()) < 10, match::toString);
        }
    }

    @Test
    void anUnknownNameIsRefusedWithThoseThereAre() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> TraceProfile.named("usr"));
        assertEquals("there is no profile 'usr'; the profiles are web-vm, homes, mail", refused.getMessage());
    }

    @Test
    void statisticsOfAFewRequestsAreWhatOneCounts() {
        TraceStatistics statistics = new TraceStatistics();
        BlockRequest request = new BlockRequest();
        request.begin(0, true, 10);
        request.add(100);
        request.add(200);
        statistics.add(request);
        request.begin(1, true, 11);
        request.add(100);
        statistics.add(request);
        request.begin(2, false, 10);
        request.add(100);
        statistics.add(request);
        assertEquals(3, statistics.requests());
        assertEquals(2.0 / 3, statistics.writeShare());
        assertEquals(16.0 / 3, statistics.meanKibibytes(), 1e-9);
        assertEquals(new TraceStatistics.Volume(3 * 4096 / 1e9, 2.0 / 3, 2.0 / 3), statistics.written());
        assertEquals(new TraceStatistics.Volume(4096 / 1e9, 1, 1), statistics.read());
        assertEquals(new TraceStatistics.ManyReferences(0, 0), statistics.manyReferences());
    }

    @Test
    void aContentOfSixBlocksHasManyReferences() {
        TraceStatistics statistics = new TraceStatistics();
        BlockRequest request = new BlockRequest();
        for (int block = 0; block < 6; block++) {
            request.begin(block, true, block);
            request.add(100);
            statistics.add(request);
        }
        request.begin(6, true, 7);
        request.add(200);
        request.add(300);
        statistics.add(request);
        assertEquals(new TraceStatistics.ManyReferences(1.0 / 3, 6.0 / 8), statistics.manyReferences());
    }
}
