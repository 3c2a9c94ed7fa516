package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class MigrationPolicyTest {
    private static final long MIB = 1 << 20;

    private final MigrationPolicy policy = new MigrationPolicy(100 * MIB, 80, 60, MigrationRule.LRU);

    private static MigrationCandidate file(long inode, long bytes, long accessedMs) {
        return new MigrationCandidate(inode, bytes, bytes, accessedMs, 1);
    }

    private List<Long> chosen(long usedBytes, MigrationCandidate... candidates) {
        return policy.choose(usedBytes, List.of(candidates), 1000).stream()
                .map(MigrationCandidate::inode)
                .toList();
    }

    @Test
    void nothingIsMigratedBelowTheThreshold() {
        assertEquals(List.of(), chosen(80 * MIB, file(1, 40 * MIB, 1), file(2, 40 * MIB, 2)));
    }

    @Test
    void theLeastRecentlyAccessedAreMigratedUntilUseIsLow() {
        assertEquals(
                List.of(3L, 1L), chosen(90 * MIB, file(1, 20 * MIB, 20), file(2, 40 * MIB, 30), file(3, 10 * MIB, 10)));
    }

    @Test
    void smallFilesStayWhileTheyTakeLittle() {
        assertEquals(List.of(2L), chosen(90 * MIB, file(1, 16 << 10, 1), file(2, 40 * MIB, 2)));
    }

    @Test
    void smallFilesGoWhenTheyTakeMuch() {
        MigrationCandidate[] many = new MigrationCandidate[400];
        for (int i = 0; i < many.length; i++) {
            many[i] = file(i, 16 << 10, i);
        }
        assertEquals(400, chosen(90 * MIB, many).size());
    }

    @Test
    void whatIsInUseCountsAndIsNotChosen() {
        assertEquals(List.of(1L), chosen(95 * MIB, file(1, 10 * MIB, 1)));
    }

    @Test
    void theMixedRulePutsLargeFilesThatWereOpenedOnceFirst() {
        MigrationPolicy mixed = new MigrationPolicy(100 * MIB, 80, 60, MigrationRule.MIXED);
        List<MigrationCandidate> files = List.of(
                new MigrationCandidate(1, MIB, MIB, 10, 1),
                new MigrationCandidate(2, 40 * MIB, 40 * MIB, 20, 1),
                new MigrationCandidate(3, 40 * MIB, 40 * MIB, 20, 9));
        assertEquals(
                List.of(2L),
                mixed.choose(90 * MIB, files, 1000).stream()
                        .map(MigrationCandidate::inode)
                        .toList());
        // The control: by its last access alone, the small one would leave first.
        assertEquals(1L, policy.choose(90 * MIB, files, 1000).get(0).inode());
    }

    @Test
    void onlyOldFilesAreCopiedAheadAndOnlyBetweenTheThresholds() {
        long now = MigrationPolicy.AHEAD_AGE_MS + 100;
        List<MigrationCandidate> files = List.of(file(1, 10 * MIB, 100), file(2, 5 * MIB, 101), file(3, 30 * MIB, 99));
        assertEquals(
                List.of(3L),
                policy.ahead(70 * MIB, files, now).stream()
                        .map(MigrationCandidate::inode)
                        .toList());
        List<MigrationCandidate> small = List.of(file(1, 10 * MIB, 100), file(2, 5 * MIB, 101));
        assertEquals(
                List.of(1L),
                policy.ahead(70 * MIB, small, now).stream()
                        .map(MigrationCandidate::inode)
                        .toList());
        assertEquals(List.of(), policy.ahead(60 * MIB, files, now));
        assertEquals(List.of(), policy.ahead(81 * MIB, files, now));
    }

    @Test
    void migrationIsUrgentHalfWayToAFullTier() {
        assertEquals(false, policy.isUrgent(90 * MIB));
        assertEquals(true, policy.isUrgent(90 * MIB + 1));
    }
}
