package org.opendedup.sar.objects.lease;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.objects.lease.LeaseWorld.Fault;

/**
 * Histories of owners that are paused, suspended, killed and cut off: what was acknowledged is in the state of each
 * later owner, none acknowledges after the next one has begun, and no read shows an older state. No time passes.
 */
@Timeout(60)
class LeaseHistoryTest {
    private static final int RUNS = 200;
    /** An owner that opens the volume for too long does harm in one of some thousand histories. */
    private static final int RUNS_OF_CONTROLS = 10_000;

    private static final long SECONDS = 300;
    private static final int MACHINES = 3;

    @Test
    void ownersFollowEachOther() {
        int takeovers = 0;
        int commits = 0;
        int reads = 0;
        int breaks = 0;
        int losses = 0;
        for (long seed : TestSeed.upTo(RUNS).toArray()) {
            LeaseWorld world = new LeaseWorld(seed, Fault.NONE, MACHINES);
            try {
                world.run(SECONDS, true);
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + ": " + TestSeed.again(getClass(), seed), e);
            }
            takeovers += world.takeovers;
            commits += world.commits;
            reads += world.reads;
            breaks += world.breaks;
            losses += world.losses;
        }
        System.out.printf(
                "%d takeovers, %d commits, %d reads, %d leases broken, %d lost%n",
                takeovers, commits, reads, breaks, losses);
        assertTrue(takeovers > 0 && commits > 0 && reads > 0 && losses > 0, "something happened");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void controlWhatIsDoneWrongIsFoundOut(Fault fault) {
        for (long seed = 1; seed <= RUNS_OF_CONTROLS; seed++) {
            try {
                new LeaseWorld(seed, fault, MACHINES).run(SECONDS, true);
            } catch (AssertionError e) {
                return;
            }
        }
        throw new AssertionError(fault + " is not found out");
    }

    @Test
    void anotherServesSoonAfterTheOwnerWasKilled() {
        for (long seed : TestSeed.upTo(20).toArray()) {
            LeaseWorld world = new LeaseWorld(seed, Fault.NONE, 2);
            world.run(60, false);
            long millis = world.millisUntilAnotherServes();
            assertTrue(millis >= 0 && millis <= 15_000, millis + " ms");
        }
    }
}
