package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.RequestCost;

/** Lanes, latency and gaps follow the store, which is simulated: time passes as its requests take it. */
final class StoreRequestsTest {
    private static final int SMALL = 256 << 10;
    private static final int LARGE = 4 << 20;
    private static final long SECONDS = 1_000_000_000L;
    /** Rate of one lane, as long as the store has one for it. */
    private static final long LANE_RATE = 100_000_000;

    private long now;

    private record Running(long begun, long end, int bytes) {}

    /** Requests for a minute, as many at once as may; of each five one is small. */
    private RequestCost ask(long latencyNanos, int lanesOfStore, int most, int waiting) {
        StoreRequests requests = new StoreRequests(most, () -> now);
        PriorityQueue<Running> running = new PriorityQueue<>(Comparator.comparingLong(Running::end));
        int begun = 0;
        long end = now + 60 * SECONDS;
        while (now < end) {
            int atOnce = waiting > 0 ? requests.cost().lanes() : 1;
            while (running.size() < atOnce) {
                requests.begin();
                int bytes = begun++ % 5 == 0 ? SMALL : LARGE;
                double rate = LANE_RATE * Math.min(1.0, (double) lanesOfStore / atOnce);
                running.add(new Running(now, now + latencyNanos + (long) (bytes / rate * SECONDS), bytes));
            }
            Running first = running.remove();
            now = first.end;
            requests.end(first.bytes, first.end - first.begun, waiting);
        }
        return requests.cost();
    }

    private static void check(RequestCost cost, int lanes, long latencyNanos, long rate) {
        assertTrue(cost.isMeasured());
        assertEquals(lanes, cost.lanes());
        assertEquals(latencyNanos, cost.latencyNanos(), latencyNanos / 4.0);
        assertEquals(rate, cost.laneBytesPerSecond(), rate / 4.0);
        // A gap is read that takes a lane as long as another request: it follows the latency.
        long gap = Math.min(DiskModel.MAX_GAP_BYTES, latencyNanos * (rate / 1000) / 1_000_000);
        assertEquals(gap, DiskModel.of(cost).gapBytes(), gap / 3.0);
    }

    @Test
    void aNearStoreWithManyLanes() {
        check(ask(3_000_000, 64, 32, 64), 32, 3_000_000, LANE_RATE);
    }

    @Test
    void aNearStoreWithFewLanes() {
        check(ask(3_000_000, 2, 32, 64), 4, 3_000_000, LANE_RATE / 2);
    }

    @Test
    void aFarStoreWithManyLanes() {
        check(ask(30_000_000, 64, 32, 64), 32, 30_000_000, LANE_RATE);
    }

    /**
     * While some requests wait for their first byte, the others have what the store can send: more lanes than it has.
     */
    @Test
    void aFarStoreWithFewLanes() {
        check(ask(30_000_000, 2, 32, 64), 8, 30_000_000, LANE_RATE / 4);
    }

    @Test
    void lanesHaveTheBoundOfTheMemory() {
        assertEquals(16, ask(30_000_000, 64, 18, 64).lanes());
        assertEquals(8, ask(30_000_000, 64, 1, 64).lanes(), "with little memory as many as without knowledge");
    }

    @Test
    void controlWhoNeverHasTheLanesFullLearnsNothingOfTheirNumber() {
        assertEquals(8, ask(30_000_000, 64, 32, 0).lanes());
    }

    @Test
    void beforeEnoughIsReadTheModelIsAssumed() {
        RequestCost cost = new StoreRequests(32, () -> now).cost();
        assertFalse(cost.isMeasured());
        DiskModel model = DiskModel.of(cost);
        assertEquals(DiskModel.Source.ASSUMED, model.source());
        assertEquals(DiskModel.STORE.gapBytes(), model.gapBytes(), 20_000);
    }
}
