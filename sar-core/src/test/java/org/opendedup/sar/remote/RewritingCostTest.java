package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.objects.StorePrices;

final class RewritingCostTest {
    private static double share(StorePrices prices) {
        return new RewritingCost(prices).leastDeadShare();
    }

    @Test
    void pricesHaveNamesOrAreNumbers() {
        for (String name : StorePrices.names()) {
            assertEquals(name, StorePrices.parse(name).toString());
        }
        StorePrices own = new StorePrices(0.02, 0.01, 0.001, 0.05, 7);
        assertEquals(own, StorePrices.parse(own.toString()));
        for (String wrong :
                new String[] {"", "s3", "1,2,3,4", "1,2,3,4,x", "-1,0,0,0,0", "NaN,0,0,0,0", "1,1,1,1,-1"}) {
            assertThrows(IllegalArgumentException.class, () -> StorePrices.parse(wrong), wrong);
        }
    }

    @Test
    void withoutPricesNoMoreIsWrittenThanComesBack() {
        assertEquals(0.5, share(StorePrices.NONE));
    }

    @Test
    void aStoreBesideTheMachineChargesLittleForRequests() {
        assertEquals(0.0014, share(new StorePrices(0.023, 0.005, 0.0004, 0, 0)), 0.0002);
    }

    @Test
    void whereReadingIsChargedMoreMustBeDead() {
        StorePrices far = new StorePrices(0.023, 0.005, 0.0004, 0.09, 0);
        assertEquals(0.65, share(far), 0.01);
        // At that share, what is saved is what it costs: 0.09 to read, and 0.023 * 6 months of 0.65 GB.
        assertEquals(0.09, share(far) * 0.023 * RewritingCost.HORIZON_MONTHS, 0.001);
    }

    @Test
    void whatIsReadForMoreThanItsStorageIsNeverWorthIt() {
        assertTrue(share(new StorePrices(0.001, 0.05, 0.01, 0.1, 180)) > 1);
    }

    @Test
    void anObjectIsNotReplacedBeforeItsMinimumTime() {
        RewritingCost cost = new RewritingCost(new StorePrices(0.0125, 0.01, 0.001, 0.01, 30));
        assertTrue(cost.isChargedLonger(Duration.ofDays(29)));
        assertFalse(cost.isChargedLonger(Duration.ofDays(30)));
        assertTrue(cost.needsAge());
        assertFalse(new RewritingCost(StorePrices.NONE).needsAge());
    }
}
