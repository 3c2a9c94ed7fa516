package org.opendedup.sar.hot.demotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.hot.copies.Requests.CHUNK_BYTES;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.hot.policy.CostPolicy;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.policy.PromotionPolicy;
import org.opendedup.sar.hot.policy.ReferenceCountPolicy;
import org.opendedup.sar.hot.policy.Settings;
import org.opendedup.sar.hot.promotion.LowestRanks;
import org.opendedup.sar.hot.promotion.SweepOrder;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;

class DataDemotionTest {
    private static final int RECORD_BYTES = CHUNK_BYTES + FakeSsd.OVERHEAD_BYTES;
    private static final int SAVING = DiskCost.saving(CHUNK_BYTES);

    private final FakeSsd ssd = new FakeSsd(100 * RECORD_BYTES);
    private @Nullable HotContents attached = ssd;
    private final Map<Long, Integer> counts = new ConcurrentHashMap<>();
    private CountSource source = chunkId -> counts.getOrDefault(chunkId, 0);

    @AutoClose
    private final DataDemotion demotion = new DataDemotion(
            () -> attached, Settings.of(Policy.REFERENCE_COUNT), chunkId -> source.count(chunkId), "test");

    private void add(long container, int slot, int count) {
        ssd.add(ChunkId.of(container, slot), count, SAVING, 0, CHUNK_BYTES);
        counts.put(ChunkId.of(container, slot), count);
    }

    private void awaitIdle() {
        TestWait.until(() -> !demotion.statistics().running());
    }

    @Test
    void roomIsMadeDownTo95PercentByTheLowestRanks() {
        for (int slot = 0; slot < 110; slot++) {
            add(1, slot, 5 + slot);
        }
        demotion.makeRoom();
        assertEquals(95, ssd.size());
        assertFalse(ssd.contains(ChunkId.of(1, 14)));
        assertTrue(ssd.contains(ChunkId.of(1, 15)));
        assertEquals(15, demotion.statistics().bySpace());
    }

    @Test
    void ofEqualsOnlyAsManyLeaveAsMust() {
        for (int slot = 0; slot < 110; slot++) {
            add(1, slot, 7);
        }
        demotion.makeRoom();
        assertEquals(95, ssd.size());
    }

    @Test
    void entriesAreLimitedAsWellAsBytes() {
        ssd.maxEntries = 40;
        for (int slot = 0; slot < 50; slot++) {
            add(1, slot, 5 + slot);
        }
        demotion.makeRoom();
        assertEquals(38, ssd.size());
        assertFalse(ssd.contains(ChunkId.of(1, 11)));
    }

    /** Such as a thread that cannot be started, or a class that was replaced. */
    @Test
    void anErrorDoesNotEndTheThread() throws InterruptedException {
        add(1, 0, 0);
        add(1, 1, 0);
        CountDownLatch failed = new CountDownLatch(1);
        source = chunkId -> {
            source = counted -> 0;
            failed.countDown();
            throw new NoClassDefFoundError("replaced");
        };
        demotion.unreferenced(ChunkId.of(1, 0));
        TestWait.until(() -> failed.getCount() == 0);
        // Of an error it discards what waits, also what is noted before it gets there.
        demotion.awaitIdle();
        demotion.unreferenced(ChunkId.of(1, 1));
        TestWait.until(() -> demotion.statistics().unreferenced() == 1);
        assertFalse(ssd.contains(ChunkId.of(1, 1)));
    }

    @Test
    void whatIsNotFullStays() {
        add(1, 0, 1);
        demotion.makeRoom();
        assertEquals(1, ssd.size());
    }

    @Test
    void theSelectionIsThatOfASort() {
        Random random = new Random(TestSeed.next());
        for (int round = 0; round < 20; round++) {
            FakeSsd table = new FakeSsd(Long.MAX_VALUE);
            PromotionPolicy policy =
                    random.nextBoolean() ? new CostPolicy(1 << 17) : new ReferenceCountPolicy(5, 1 << 17);
            for (int slot = 0; slot < 3000; slot++) {
                int count = 1 + random.nextInt(1 << random.nextInt(16));
                int saving = 1 + random.nextInt(0xffff);
                table.add(ChunkId.of(1, slot), count, saving, random.nextInt(256), 100 + random.nextInt(20_000));
            }
            List<MapEntry> sorted = new ArrayList<>(table.entries.values());
            sorted.sort((a, b) -> Long.compare(rank(policy, a), rank(policy, b)));
            long wanted = 1 + random.nextLong(table.liveBytes());
            long expected = 0;
            int leaving = 0;
            while (expected < wanted) {
                expected += sorted.get(leaving++).length;
            }
            long highest = rank(policy, sorted.get(leaving - 1));

            LowestRanks lowest = new LowestRanks(table, policy, wanted, 0);
            long before = table.liveBytes();
            lowest.demote();
            assertEquals(highest, lowest.cut());
            assertTrue(before - table.liveBytes() >= wanted);
            for (MapEntry entry : sorted) {
                if (rank(policy, entry) != highest) {
                    assertEquals(rank(policy, entry) > highest, table.contains(entry.chunkId));
                }
            }
        }
    }

    private static long rank(PromotionPolicy policy, MapEntry entry) {
        return policy.rank(entry.count, entry.length, entry.saving, entry.heat);
    }

    @Test
    void aHigherThresholdDemotesAllBelowIt() {
        for (int slot = 0; slot < 20; slot++) {
            add(1 + slot % 3, slot, slot);
        }
        demotion.apply(Settings.threshold(10));
        awaitIdle();
        assertEquals(10, ssd.size());
        assertTrue(ssd.entries.values().stream().allMatch(entry -> entry.count >= 10));
        assertEquals(9, demotion.statistics().bySettings());
        assertEquals(1, demotion.statistics().unreferenced());
        assertEquals(20, demotion.statistics().examined());
        assertEquals(20, demotion.statistics().toExamine());
    }

    @Test
    void aSweepGoesByTheReferencesOfNow() {
        add(1, 0, 12);
        add(1, 1, 7);
        counts.put(ChunkId.of(1, 0), 9);
        counts.put(ChunkId.of(1, 1), 10);
        demotion.apply(Settings.threshold(10));
        awaitIdle();
        assertEquals(Set.of(ChunkId.of(1, 1)), ssd.entries.keySet());
    }

    @Test
    void whatWasPromotedByReadingStaysUnlessSettingsGetStricter() {
        add(1, 0, 1);
        demotion.apply(Settings.threshold(4));
        awaitIdle();
        assertEquals(1, ssd.size());
        demotion.apply(Settings.threshold(5));
        awaitIdle();
        assertEquals(0, ssd.size());
    }

    @Test
    void noMorePromotionByReadingDemotesWhatOnlyThatPromoted() {
        add(1, 0, 1);
        add(1, 1, 5);
        demotion.apply(Settings.promoteOnRead(false));
        awaitIdle();
        assertEquals(Set.of(ChunkId.of(1, 1)), ssd.entries.keySet());
    }

    @Test
    void aNewChangeRestartsTheSweepAndKeepsWhatAnAdministratorNamed() throws Exception {
        for (int slot = 0; slot < 100; slot++) {
            add(1, slot, slot);
        }
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch changed = new CountDownLatch(1);
        source = chunkId -> {
            asked.countDown();
            awaitLatch(changed);
            return counts.getOrDefault(chunkId, 0);
        };
        demotion.demoteUpTo(30);
        asked.await();
        demotion.apply(Settings.threshold(20));
        demotion.apply(Settings.threshold(60));
        demotion.apply(Settings.threshold(50));
        changed.countDown();
        awaitIdle();
        assertEquals(50, ssd.size());
        assertTrue(ssd.entries.values().stream().allMatch(entry -> entry.count >= 50));
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anAdministratorDemotesUpToACount() {
        for (int slot = 0; slot < 20; slot++) {
            add(1, slot, slot);
        }
        demotion.demoteUpTo(7);
        awaitIdle();
        assertEquals(12, ssd.size());
    }

    @Test
    void whatNothingRefersToLeaves() {
        add(1, 0, 5);
        add(1, 1, 5);
        add(1, 2, 5);
        counts.remove(ChunkId.of(1, 0));
        demotion.unreferenced(ChunkId.of(1, 0));
        // This one was written again before its turn.
        demotion.unreferenced(ChunkId.of(1, 1));
        TestWait.until(() -> !ssd.contains(ChunkId.of(1, 0)));
        assertEquals(2, ssd.size());
        TestWait.until(() -> demotion.statistics().unreferenced() == 1);
    }

    @Test
    void moreThanTheQueueHoldsIsFoundByASweep() throws Exception {
        int chunks = (1 << 16) + 500;
        CountDownLatch all = new CountDownLatch(1);
        source = chunkId -> {
            awaitLatch(all);
            return counts.getOrDefault(chunkId, 0);
        };
        for (int i = 0; i < chunks; i++) {
            ssd.add(ChunkId.of(1 + i / 1000, i % 1000), 5, SAVING, 0, 100);
        }
        add(999, 1, 5);
        for (long chunkId : new HashSet<>(ssd.entries.keySet())) {
            demotion.unreferenced(chunkId);
        }
        all.countDown();
        TestWait.until(() -> ssd.size() == 1);
        assertTrue(ssd.contains(ChunkId.of(999, 1)));
        TestWait.until(() -> demotion.statistics().unreferenced() == chunks);
    }

    @Test
    void countsThatCannotBeReadDemoteNothingAndStopNothing() {
        add(1, 0, 1);
        source = chunkId -> {
            throw new IOException("the metadata database is gone");
        };
        demotion.demoteUpTo(1);
        awaitIdle();
        assertEquals(1, ssd.size());
        source = chunkId -> 1;
        demotion.demoteUpTo(1);
        awaitIdle();
        assertEquals(0, ssd.size());
    }

    @Test
    void withoutAnSsdNothingIsToDo() {
        attached = null;
        demotion.makeRoom();
        demotion.unreferenced(1);
        demotion.demoteUpTo(9);
        awaitIdle();
        assertTrue(demotion.admits(0));
        assertEquals(0, demotion.statistics().demoted());
    }

    @Test
    void anSsdThatWasAwayLosesWhatNoLongerQualifies() throws InterruptedException {
        for (int slot = 0; slot < 20; slot++) {
            add(1, slot, slot);
        }
        attached = null;
        demotion.apply(Settings.threshold(10));
        demotion.awaitIdle();
        attached = ssd;
        demotion.noteAttached();
        demotion.awaitIdle();
        assertEquals(10, ssd.size());
        assertFalse(ssd.contains(ChunkId.of(1, 9)));
    }

    @Test
    void anSsdThatWasAwayLosesWhatNothingRefersToAndNothingElse() throws InterruptedException {
        add(1, 1, 1);
        add(1, 2, 1);
        attached = null;
        counts.put(ChunkId.of(1, 1), 0);
        demotion.unreferenced(ChunkId.of(1, 1));
        demotion.apply(Settings.threshold(10));
        demotion.awaitIdle();
        demotion.apply(Settings.threshold(1));
        demotion.awaitIdle();
        attached = ssd;
        demotion.noteAttached();
        demotion.awaitIdle();
        assertEquals(Set.of(ChunkId.of(1, 2)), ssd.entries.keySet());
    }

    @Test
    void aSweepShowsEachChunkOnceAndContainersWhole() {
        Random random = new Random(TestSeed.next());
        for (int i = 0; i < 500; i++) {
            add(1 + random.nextInt(40), random.nextInt(1000), 5);
        }
        SweepOrder order = new SweepOrder(ssd, 100);
        Set<Long> seen = new HashSet<>();
        Set<Long> containers = new HashSet<>();
        long container = 0;
        while (order.nextPart()) {
            for (int i = 0; i < order.count(); i++) {
                assertTrue(seen.add(order.chunkId(i)));
                if (ChunkId.container(order.chunkId(i)) != container) {
                    container = ChunkId.container(order.chunkId(i));
                    assertTrue(containers.add(container), "shown in two places");
                }
            }
        }
        assertEquals(ssd.entries.keySet(), seen);
    }

    @Test
    void aFullSsdAdmitsOnlyWhatIsWorthAnEighthMoreThanWhatLeft() {
        for (int slot = 0; slot < 110; slot++) {
            add(1, slot, 80);
        }
        PromotionPolicy policy = new ReferenceCountPolicy(5, 1 << 17);
        assertTrue(demotion.admits(policy.rank(1, RECORD_BYTES, 0, 0)), "nothing had to leave yet");
        demotion.makeRoom();
        assertFalse(demotion.admits(policy.rank(80, RECORD_BYTES, 0, 1)));
        assertFalse(demotion.admits(policy.rank(89, RECORD_BYTES, 0, 1)));
        assertTrue(demotion.admits(policy.rank(91, RECORD_BYTES, 0, 1)));
        for (int slot = 0; slot < 30; slot++) {
            ssd.demote(ChunkId.of(1, 80 + slot));
        }
        assertTrue(demotion.admits(policy.rank(1, RECORD_BYTES, 0, 0)), "not full any more");
    }

    @Test
    void anSsdFullOfWhatNobodyWantsAnyMoreOpensAgain() {
        demotion.apply(Settings.of(Policy.COST));
        awaitIdle();
        for (int slot = 0; slot < 110; slot++) {
            ssd.add(ChunkId.of(1, slot), 2, SAVING, 100, CHUNK_BYTES);
        }
        demotion.makeRoom();
        long candidate = new CostPolicy(1).rank(2, RECORD_BYTES, SAVING, 1);
        assertFalse(demotion.admits(candidate));
        TestWait.until(() -> {
            for (int refused = 0; refused < 1000; refused++) {
                demotion.admits(candidate);
            }
            return demotion.admits(candidate);
        });
        assertTrue(ssd.ageings > 0);
    }

    /** The first call ends the sweep under way, and waits for it; the second finds nothing to do. */
    @Test
    void closingTwiceIsClosingOnce() throws InterruptedException {
        for (int slot = 0; slot < 20; slot++) {
            add(1, slot, 1);
        }
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        source = chunkId -> {
            asked.countDown();
            awaitLatch(goesOn);
            return 1;
        };
        demotion.demoteUpTo(1);
        asked.await();
        Thread closing = new Thread(demotion::close);
        closing.start();
        while (closing.getState() != Thread.State.WAITING) {
            assertTrue(closing.isAlive(), "it did not wait for the sweep");
            Thread.onSpinWait();
        }
        goesOn.countDown();
        closing.join();
        assertEquals(19, ssd.size());
        demotion.close();
        demotion.demoteUpTo(1);
        assertEquals(19, ssd.size());
    }
}
