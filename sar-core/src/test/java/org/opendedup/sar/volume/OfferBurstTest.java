package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.PromotionStatistics;

/** More simultaneous duplicates than an SSD accepts: those that do not fit into its queue are offered again. */
@Timeout(120)
class OfferBurstTest {
    /** Time for which nothing is noted of a file before it is judged. */
    private static final String QUIET = "sar.promotion.quiet.ms";

    /** 50 MB: many times the size of the queue of so small a volume. */
    private static final int CHUNKS = 12_800;
    /**
     * The runs at the ends of the 2 MiB stored at once are not complete: they are judged some seconds later. Two bursts
     * have at most this number.
     */
    private static final int LATE = CHUNKS / 128;

    private static final HotSettings SETTINGS =
            new HotSettings(true, 256 << 20, 3, 128 << 10, false, 1000, HotSettings.Policy.REFERENCE_COUNT);

    @MemoryFolder
    Path folder;

    @BeforeAll
    static void hurry() {
        System.setProperty(QUIET, "500");
    }

    @AfterAll
    static void clear() {
        System.clearProperty(QUIET);
    }

    /** Writes all chunks three times while the SSD waits; the third time they qualify. */
    private static void burst(HotTrial trial) throws IOException {
        trial.gates.writes.close();
        for (int copy = 0; copy < SETTINGS.referenceCountThreshold(); copy++) {
            trial.write(HotTrial.scattered(0, CHUNKS, copy));
        }
    }

    /** All chunks, except those that are judged late. */
    private static void assertNearly(long chunks, PromotionStatistics during) {
        assertTrue(Math.abs(chunks - CHUNKS) <= LATE, during::toString);
    }

    private static void awaitAll(HotTrial trial) throws IOException, InterruptedException {
        HotTrial.await(
                () -> trial.promotion().waiting() == 0 && trial.status().mapTableEntries() == CHUNKS,
                () -> trial.promotion().toString());
    }

    @Test
    void whatABurstLeavesWaitingLandsWhenTheSsdTakesItAgain() throws Exception {
        try (HotTrial trial = new HotTrial(folder, SETTINGS, -1)) {
            burst(trial);
            PromotionStatistics during = trial.promotion();
            assertEquals(0, during.promoted(), "the SSD stands still");
            // A second copy has too few references; no run is that long here.
            assertNearly(during.refused(Refusal.COUNT), during);
            assertNearly(during.waiting(), during);
            assertTrue(during.queued() > 0, during::toString);
            assertTrue(during.remembered() > 0, "the queue is too short for all");

            trial.gates.writes.open();
            awaitAll(trial);
            trial.checkFigures("the burst");
            assertEquals(CHUNKS, trial.promotion().promoted());
            trial.readChunks(0, 1, 777, CHUNKS - 1);
            assertEquals(3, trial.status().distributor().ssdHits());
        }
    }

    /**
     * The control: a volume that cannot remember offers loses those for which its queue has no room, until the chunk is
     * written again.
     */
    @Test
    void whatCannotBeRememberedComesBackWithItsNextDuplicate() throws Exception {
        try (HotTrial trial = new HotTrial(folder, SETTINGS, 0)) {
            burst(trial);
            PromotionStatistics during = trial.promotion();
            assertEquals(0, during.remembered());
            assertNearly(during.queued() + during.refused(Refusal.QUEUE), during);
            assertTrue(during.refused(Refusal.QUEUE) > CHUNKS / 2, during::toString);
            trial.gates.writes.open();
            trial.checkFigures("the burst");
            assertTrue(trial.status().mapTableEntries() < CHUNKS / 2);

            for (int from = 0; from < CHUNKS; from += 256) {
                trial.write(HotTrial.scattered(from, 256, from));
                HotTrial.await(
                        () -> trial.promotion().queued() == 0,
                        () -> trial.promotion().toString());
            }
            // Chunks judged late cannot be remembered either: they are offered with a duplicate that is not at an end.
            trial.checkFigures("paced writing");
            assertTrue(trial.status().mapTableEntries() >= CHUNKS - LATE, trial.promotion()::toString);
        }
    }

    @Test
    void aWriterWhoComesBeforeTheyAreFetchedSettlesThem() throws Exception {
        try (HotTrial trial = new HotTrial(folder, SETTINGS, -1)) {
            burst(trial);
            long remembered = trial.promotion().remembered();
            trial.write(HotTrial.scattered(0, CHUNKS, 9));
            // No chunk is remembered twice.
            assertTrue(trial.promotion().remembered() - remembered <= LATE, trial.promotion()::toString);
            assertNearly(trial.promotion().refused(Refusal.PRESENT), trial.promotion());
            trial.gates.writes.open();
            awaitAll(trial);
            trial.checkFigures("two bursts");
            assertEquals(CHUNKS, trial.promotion().promoted());
        }
    }
}
