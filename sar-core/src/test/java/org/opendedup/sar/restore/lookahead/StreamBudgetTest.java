package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.frame.PinnedChunks;

class StreamBudgetTest {
    private static final long BYTES = 64 << 20;

    private final StreamBudget budget = RestoreSettings.DEFAULT.budget(BYTES);

    private StreamBudget.Part join() {
        return join(budget);
    }

    private static StreamBudget.Part join(StreamBudget budget) {
        StreamBudget.Share share = budget.tryJoin();
        assertNotNull(share);
        StreamBudget.Part part = share.tryPart();
        assertNotNull(part);
        return part;
    }

    @Test
    void readersHaveEqualShares() {
        StreamBudget.Part first = join();
        assertEquals(BYTES / 32 * 9, first.cacheBytes());
        StreamBudget.Part second = join();
        assertEquals(BYTES / 64 * 9, first.cacheBytes());
        assertEquals(BYTES / 64 * 9, second.cacheBytes());
        second.leave();
        assertEquals(BYTES / 32 * 9, first.cacheBytes());
    }

    /** The kernel tells late that a file was closed: the reader of the next one begins before that. */
    @Test
    void aCacheThatWasMadeBesideAnotherGrowsWhenThatIsGone() {
        PinnedChunks pinned = new PinnedChunks(new ByteGauge(), BYTES);
        StreamBudget.Part first = join();
        ReaderCache cache = new ReaderCache(pinned, join());
        assertFalse(cache.isToFollowBudget());
        first.leave();
        assertTrue(cache.isToFollowBudget());
        TakenChunks taken = new TakenChunks(pinned, new ParkedChunks(pinned, new ReadCredit()), false);
        cache.followBudget(new ReaderWindow(pinned, taken, 0));
        assertEquals(BYTES / 32 * 9, cache.memory());
        assertFalse(cache.isToFollowBudget());
    }

    @Test
    void whatOneStillUsesTheOthersDoNotHave() {
        StreamBudget.Part first = join();
        first.use(BYTES / 4 * 3);
        StreamBudget.Part second = join();
        assertEquals(BYTES / 4 / 32 * 9, second.cacheBytes());
        first.use(BYTES / 8 * 3);
        assertEquals(BYTES / 2 / 32 * 9, second.cacheBytes());
    }

    @Test
    void aReaderForWhomNothingIsLeftGoesWithout() {
        StreamBudget.Part first = join();
        first.use(BYTES / 16 * 15);
        assertNull(budget.tryJoin());
        first.use(BYTES / 16 * 9);
        assertNotNull(budget.tryJoin());
    }

    @Test
    void threeBatchesOfAReaderFitWhereMemoryAllowsIt() {
        // A batch takes an eighth more with its slots. The reader keeps 12 MiB behind it.
        StreamBudget.Part much = part(128 << 20);
        long kept = 12 << 20;
        assertTrue(3 * (much.batchBytes() / 8 * 9) + kept <= much.aheadBytes());
        // The control: two batches of a quarter of the memory.
        assertTrue(3 * ((128L << 20) / 4 / 8 * 9) + kept > much.aheadBytes());
        for (long bytes : new long[] {8 << 20, 32 << 20, 40 << 20, 64 << 20, 96 << 20}) {
            assertEquals(bytes / 4, part(bytes).batchBytes());
        }
        assertEquals(32 << 20, part(1 << 30).batchBytes());
    }

    private static StreamBudget.Part part(long bytes) {
        return join(RestoreSettings.DEFAULT.budget(bytes));
    }

    @Test
    void noMoreJoinThanHaveEnough() {
        for (int i = 0; i < BYTES / StreamBudget.MIN_SHARE_BYTES; i++) {
            join();
        }
        assertNull(budget.tryJoin());
    }
}
