package org.opendedup.sar.sim.tddfs.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class MigrationPolicyTest {
    private static final int NONE = -1;
    private final MigrationPolicy policy = new MigrationPolicy(new MigrationPolicy.Limits(100, 80, 10, 15));

    @Test
    void migrationStartsAboveOneThresholdAndStopsAtTheOther() {
        assertFalse(policy.mustStart(100));
        assertTrue(policy.mustStart(101));
        assertFalse(policy.mayStop(81));
        assertTrue(policy.mayStop(80));
    }

    @Test
    void theLeastRecentlyUsedFileLeavesUnlessItIsInUse() {
        policy.used(1, 50);
        policy.used(2, 50);
        policy.used(3, 50);
        policy.used(1, 50);
        assertEquals(OptionalInt.of(2), policy.next(NONE));
        assertEquals(OptionalInt.of(3), policy.next(2));
        policy.remove(2);
        policy.remove(3);
        assertEquals(OptionalInt.of(1), policy.next(NONE));
        assertEquals(OptionalInt.empty(), policy.next(1));
    }

    @Test
    void smallFilesStayUntilTheyHaveMoreThanTheirShare() {
        policy.used(1, 10);
        policy.used(2, 11);
        assertEquals(OptionalInt.of(2), policy.next(NONE), "10 bytes of small files are within the share");
        policy.used(3, 6);
        assertEquals(OptionalInt.of(1), policy.next(NONE), "16 bytes are above it");
        policy.remove(1);
        assertEquals(OptionalInt.of(2), policy.next(NONE));
        policy.remove(2);
        assertEquals(OptionalInt.empty(), policy.next(NONE), "6 bytes are within it again");
    }

    @Test
    void aFileThatGrewIsNoLongerSmall() {
        policy.used(1, 10);
        assertEquals(OptionalInt.empty(), policy.next(NONE));
        policy.used(1, 11);
        assertEquals(OptionalInt.of(1), policy.next(NONE));
    }

    @Test
    void thresholdsInTheWrongOrderAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new MigrationPolicy.Limits(10, 11, 0, 0));
    }

    @Test
    void chunksAreInTheOrderOfTheirUse() {
        ChunkLru chunks = new ChunkLru();
        chunks.used(5, 1);
        chunks.used(2000, 2);
        chunks.used(7, 3);
        chunks.used(5, 4);
        assertEquals(2000, chunks.oldest());
        assertEquals(2, chunks.oldestUse());
        chunks.remove(2000);
        chunks.remove(2000);
        assertEquals(7, chunks.oldest());
        chunks.remove(5);
        chunks.remove(7);
        assertTrue(chunks.isEmpty());
        assertThrows(IllegalStateException.class, chunks::oldest);
    }
}
