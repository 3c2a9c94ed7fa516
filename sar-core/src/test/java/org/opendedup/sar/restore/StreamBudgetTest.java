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
        assertEquals(BYTES / 4, first.cacheBytes());
        StreamBudget.Share second = join();
        assertEquals(BYTES / 8, first.cacheBytes());
        assertEquals(BYTES / 8, second.cacheBytes());
        second.leave();
        assertEquals(BYTES / 4, first.cacheBytes());
    }

    @Test
    void whatOneStillUsesTheOthersDoNotHave() {
        StreamBudget.Share first = join();
        first.use(BYTES / 8 * 5, BYTES / 8, 0);
        StreamBudget.Share second = join();
        assertEquals(BYTES / 4 / 4, second.cacheBytes());
        first.use(BYTES / 4, BYTES / 8, 0);
        assertEquals(BYTES / 2 / 4, second.cacheBytes());
    }

    @Test
    void aReaderForWhomNothingIsLeftGoesWithout() {
        StreamBudget.Share first = join();
        first.use(BYTES / 8 * 7, BYTES / 16, 0);
        assertNull(budget.tryJoin());
        first.use(BYTES / 2, BYTES / 16, 0);
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
