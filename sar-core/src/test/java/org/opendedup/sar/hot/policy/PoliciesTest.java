package org.opendedup.sar.hot.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.ssd.Cause;

class PoliciesTest {
    private static final int CHUNK = 8 << 10;
    private static final int RUN = 128 << 10;

    private final PromotionPolicy byCount = new ReferenceCountPolicy(5, RUN);
    private final OpenPolicy open = new OpenPolicy();
    private final PromotionPolicy byCost = new CostPolicy(RUN);

    @Test
    void aDuplicateIsPromotedFromTheThresholdOn() {
        assertFalse(byCount.promotes(Cause.WRITE, 4, CHUNK, CHUNK));
        assertTrue(byCount.promotes(Cause.WRITE, 5, CHUNK, CHUNK));
    }

    @Test
    void aLongRunStaysOnTheDiskHoweverManyReferencesItHas() {
        for (PromotionPolicy policy : List.of(byCount, byCost)) {
            assertTrue(policy.promotes(Cause.WRITE, 1000, CHUNK, RUN - 1));
            assertFalse(policy.promotes(Cause.WRITE, 1000, CHUNK, RUN));
        }
        assertTrue(byCount.promotes(Cause.READ, 1000, CHUNK, RUN - 1));
        assertFalse(byCount.promotes(Cause.READ, 1000, CHUNK, RUN));
    }

    @Test
    void byCostAReadRunIsLongIfTheDiskReadsLongerThanItSeeks() {
        assertTrue(byCost.promotes(Cause.READ, 1, CHUNK, DiskCost.SEEK_BYTES - 1));
        assertFalse(byCost.promotes(Cause.READ, 1, CHUNK, DiskCost.SEEK_BYTES));
        assertTrue(new CostPolicy(4 * DiskCost.SEEK_BYTES).promotes(Cause.READ, 1, CHUNK, 2 * DiskCost.SEEK_BYTES));
    }

    @Test
    void aSecondReadIsPopularityEnough() {
        assertTrue(byCount.promotes(Cause.READ, 1, CHUNK, CHUNK));
    }

    @Test
    void onlyTheCostPolicyLooksAtRecipes() {
        assertFalse(byCount.promotes(Cause.RECIPE, 1000, CHUNK, CHUNK));
        assertTrue(byCost.promotes(Cause.RECIPE, 1, CHUNK, 4 * RUN));
    }

    @Test
    void aHigherThresholdDisqualifiesAllBelowItAlsoWhatWasPromotedByReading() {
        PromotionPolicy stricter = new ReferenceCountPolicy(10, RUN);
        int saving = DiskCost.saving(CHUNK);
        assertFalse(stricter.keeps(1, saving));
        assertFalse(stricter.keeps(9, saving));
        assertTrue(stricter.keeps(10, saving));
    }

    @Test
    void aShorterRunDisqualifiesWhatWasOnlyWantedInLongerOnes() {
        PromotionPolicy stricter = new ReferenceCountPolicy(5, 64 << 10);
        assertTrue(stricter.keeps(5, DiskCost.saving(60 << 10)));
        assertFalse(stricter.keeps(5, DiskCost.saving(70 << 10)));
    }

    @Test
    void byCountHeatOnlyBreaksTies() {
        assertTrue(byCount.rank(5, CHUNK, 1, 0) < byCount.rank(5, CHUNK, 1, 1));
        assertTrue(byCount.rank(5, CHUNK, 1, 255) < byCount.rank(6, CHUNK, 1, 0));
        // Of records of one size, the one that costs the disk more; size and references decide first.
        assertTrue(byCount.rank(5, CHUNK, 1, 255) < byCount.rank(5, CHUNK, 2, 0));
        assertTrue(byCount.rank(5, CHUNK, 9999, 255) < byCount.rank(5, CHUNK - 1, 1, 0));
        assertTrue(byCount.rank(5, 1, 65535, 255) < byCount.rank(6, CHUNK, 1, 0));
        assertTrue(byCount.rank(65535, 1, 65535, 255) > 0);
    }

    @Test
    void byCostAShortRunIsWorthMoreThanManyReferences() {
        long random = byCost.rank(2, CHUNK, DiskCost.saving(4 << 10), 1);
        long sequential = byCost.rank(50, CHUNK, DiskCost.saving(120 << 10), 1);
        assertTrue(random > sequential);
    }

    @Test
    void byCostWhatWasOnlyWrittenIsWorthLessThanWhatWasReadInALongerRun() {
        int written = byCost.expectedSaving(Cause.WRITE, DiskCost.saving(CHUNK));
        int read = byCost.expectedSaving(Cause.READ, DiskCost.saving(8 * CHUNK));
        assertTrue(byCost.rank(2, CHUNK, written, 1) < byCost.rank(2, CHUNK, read, 1));
        assertEquals(1, byCost.expectedSaving(Cause.WRITE, 1));
        int wanted = byCost.expectedSaving(Cause.RECIPE, DiskCost.saving(CHUNK));
        assertTrue(byCost.rank(2, CHUNK, wanted, 1) < byCost.rank(2, CHUNK, DiskCost.saving(2 * CHUNK), 1));
        assertTrue(byCost.rank(2, CHUNK, wanted, 1) > byCost.rank(2, CHUNK, written, 1));
        assertEquals(1, byCost.expectedSaving(Cause.RECIPE, 1));
    }

    @Test
    void byCostWritingPushesNothingOut() {
        assertFalse(byCost.displaces(Cause.WRITE));
        assertTrue(byCost.displaces(Cause.READ));
        assertTrue(byCost.displaces(Cause.RECIPE));
        assertTrue(byCount.displaces(Cause.WRITE));
    }

    @Test
    void ranksNeverFallWithCountOrHeatAndNeverRiseWithTheRecord() {
        Random random = new Random(TestSeed.next());
        for (int round = 0; round < 10_000; round++) {
            int count = 1 + random.nextInt(70_000);
            int bytes = 16 + random.nextInt(1 << 20);
            int saving = 1 + random.nextInt(0xfffe);
            int heat = random.nextInt(255);
            for (PromotionPolicy policy : List.of(byCount, byCost)) {
                long rank = policy.rank(count, bytes, saving, heat);
                assertTrue(rank > 0);
                assertTrue(policy.rank(count + 1, bytes, saving, heat) >= rank);
                assertTrue(policy.rank(count, bytes, saving + 1, heat) >= rank);
                assertTrue(policy.rank(count, bytes, saving, heat + 1) > rank);
                assertTrue(policy.rank(count, bytes + 1, saving, heat) <= rank);
            }
        }
    }

    @Test
    void settingsNameThePolicy() {
        assertEquals(byCount, Settings.of(Policy.REFERENCE_COUNT).promotionPolicy());
        assertEquals(byCost, Settings.of(Policy.COST).promotionPolicy());
        assertEquals(open, Settings.of(Policy.OPEN).promotionPolicy());
    }

    @Test
    void openTakesWhatIsReadTheFirstTimeWhateverItsRun() {
        assertTrue(open.promotesFirstRead());
        assertFalse(byCount.promotesFirstRead());
        assertTrue(open.promotes(Cause.READ, 1, 4096, Long.MAX_VALUE));
        assertFalse(open.promotes(Cause.WRITE, 100, 4096, 1));
        assertFalse(open.promotes(Cause.RECIPE, 100, 4096, 1));
    }

    @Test
    void openKeepsWhatWasReadLately() {
        assertTrue(open.rank(1, 4096, 1, 2) > open.rank(60_000, 16, 0xfffe, 1));
        assertTrue(open.rank(2, 4096, 1, 1) > open.rank(1, 4096, 1, 1));
        assertTrue(open.keeps(1, 1));
        assertFalse(open.keeps(0, 1));
    }
}
