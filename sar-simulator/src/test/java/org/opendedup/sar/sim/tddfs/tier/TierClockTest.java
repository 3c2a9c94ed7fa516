package org.opendedup.sar.sim.tddfs.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sim.device.Machine;

class TierClockTest {
    private static final long MIB = 1 << 20;

    private static TierCosts costs() throws IOException {
        return TierCosts.of(Machine.load("tddfs"), new TierCosts.Dedup(100e6, 1000, 10));
    }

    private static TierClock started(long pendingUnits) throws IOException {
        TierClock clock = new TierClock(costs(), 1, pendingUnits, false);
        clock.start();
        return clock;
    }

    @Test
    void aDiskReadTakesOneSeekAndTheTransfer() throws IOException {
        TierClock clock = started(64);
        clock.slow(96_000_000, 1);
        // Overhead 0.17, average seek 8.9, half a revolution 4.167 ms; one second at 96 MB/s.
        assertEquals(1_000_000_000 + 13_236_666, clock.nowNanos(), 1000);
    }

    @Test
    void nothingTakesTimeBeforeTheStart() throws IOException {
        TierClock clock = new TierClock(costs(), 1, 64, false);
        clock.slow(1000, 1);
        clock.fast(true, 1000);
        clock.dedup(1000, 1);
        assertEquals(0, clock.nowNanos());
        assertEquals(1, clock.startJob(Work.down(MIB)).doneShare());
    }

    @Test
    void aRequestToTheDiskWaitsForTheStepOfTheBackgroundThatIsServed() throws IOException {
        TierClock clock = started(64);
        clock.beginRequest();
        TierClock.Job job = clock.startJob(Work.up(10 * MIB, 1, 10 * MIB));
        clock.dedup(100_000, 0);
        long before = clock.nowNanos();
        clock.slow(MIB, 1);
        long alone = costs().slowNanos(MIB, 1);
        assertTrue(clock.nowNanos() > before + alone, "the first unit was under way");
        assertTrue(clock.nowNanos() < before + 2 * alone, "only one unit is waited for");
        assertEquals(0, job.doneShare(), "the unit still has to be written");
        clock.drain();
        assertEquals(1, job.doneShare());
    }

    @Test
    void migrationsOffPeakTakeNoTime() throws IOException {
        for (boolean isOffPeak : new boolean[] {true, false}) {
            TierClock clock = new TierClock(costs(), 1, 0, isOffPeak);
            clock.start();
            for (int request = 0; request < 2; request++) {
                clock.beginRequest();
                clock.startJob(Work.down(10 * MIB));
            }
            assertEquals(isOffPeak, clock.nowNanos() == 0, "the control: else the second waits for the first");
        }
    }

    @Test
    void theFirstMigrationOfARequestWaitsForEarlierOnes() throws IOException {
        TierClock clock = started(4);
        clock.beginRequest();
        TierClock.Job first = clock.startJob(Work.down(10 * MIB));
        assertEquals(0, clock.nowNanos());
        clock.startJob(Work.down(10 * MIB));
        assertEquals(0, clock.nowNanos(), "a request does not wait for its own migrations");
        clock.beginRequest();
        clock.startJob(Work.down(MIB));
        assertEquals(1, first.doneShare());
        // 16 of the 20 units are done.
        long unit = costs().slowNanos(MIB, 0) + costs().fastNanos(false, MIB, 1);
        assertEquals(16 * unit + 2 * costs().slowNanos(0, 1), clock.nowNanos(), 1000);
    }

    @Test
    void piecesOfTheSsdAreServedSideBySideOrInTurn() throws IOException {
        long one = costs().fastNanos(false, 0, 1);
        assertEquals(one, costs().fastNanos(false, 0, 32));
        assertEquals(2 * one, costs().fastNanos(false, 0, 33));
        assertEquals(33 * one, costs().fastInTurnNanos(false, 0, 33));
    }
}
