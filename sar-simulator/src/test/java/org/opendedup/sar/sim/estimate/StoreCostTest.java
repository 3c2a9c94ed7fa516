package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.objects.StorePrices;

class StoreCostTest {
    /** 1 TB of which 2 % are replaced each day, by prices that make sums that can be made by hand. */
    @Test
    void theSumsAreThoseMadeByHand() {
        StoreCost cost = StoreCost.of(1e12, 0.02, new StorePrices(0.02, 5, 1, 0.1, 30));
        double packs = 1e12 / (56 << 20);
        assertEquals(packs * 0.005, cost.upload(), 1e-6, "a pack is one request");
        assertEquals(20, cost.monthStored(), 1e-9);
        assertEquals(20e9, cost.changedBytes());
        assertEquals(cost.upload() * 0.02 * 30, cost.monthData(), 1e-6);
        assertEquals(20 * 30 * 0.02, cost.monthDeletedEarly(), 1e-9, "600 GB a month, each for a month more");
        assertEquals(2 * 2_592_000 / 5.0 * 0.005, cost.monthSyncs(), 1e-6);
        assertEquals(864_000 * 0.005, cost.monthLease(), 1e-6);
        assertEquals(119_210 * 0.001 + 100, cost.restore(), 1e-6, "ranges of 8 MiB");
    }

    @Test
    void aVolumeThatNobodyWritesToCostsItsBytesAndItsLease() {
        StoreCost cost = StoreCost.of(1e9, 0, StorePrices.parse("s3-standard"));
        assertEquals(0.023 + 4.32, cost.month(), 1e-9);
        assertEquals(0, StoreCost.of(1e12, 0.5, StorePrices.NONE).month());
    }
}
