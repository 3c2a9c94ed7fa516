package org.opendedup.sar.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class StreamBudgetTest {
    private static final long BYTES = 64 << 20;

    private final StreamBudget budget = RestoreSettings.DEFAULT.budget(BYTES);

    private StreamBudget.Share join() {
        StreamBudget.Share share = budget.tryJoin();
        assertNotNull(share);
        return share;
    }

    @Test
    void readersHaveEqualShares() {
        StreamBudget.Share first = join();
        assertEquals(BYTES / 32 * 9, first.cacheBytes());
        StreamBudget.Share second = join();
        assertEquals(BYTES / 64 * 9, first.cacheBytes());
        assertEquals(BYTES / 64 * 9, second.cacheBytes());
        second.leave();
        assertEquals(BYTES / 32 * 9, first.cacheBytes());
    }

    @Test
    void whatOneStillUsesTheOthersDoNotHave() {
        StreamBudget.Share first = join();
        first.use(BYTES / 4 * 3);
        StreamBudget.Share second = join();
        assertEquals(BYTES / 4 / 32 * 9, second.cacheBytes());
        first.use(BYTES / 8 * 3);
        assertEquals(BYTES / 2 / 32 * 9, second.cacheBytes());
    }

    @Test
    void aReaderForWhomNothingIsLeftGoesWithout() {
        StreamBudget.Share first = join();
        first.use(BYTES / 16 * 15);
        assertNull(budget.tryJoin());
        first.use(BYTES / 16 * 9);
        assertNotNull(budget.tryJoin());
    }

    @Test
    void noMoreJoinThanHaveEnough() {
        for (int i = 0; i < BYTES / StreamBudget.MIN_SHARE_BYTES; i++) {
            join();
        }
        assertNull(budget.tryJoin());
    }
}
