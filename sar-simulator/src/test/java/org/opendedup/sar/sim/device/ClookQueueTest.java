package org.opendedup.sar.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class ClookQueueTest {
    private final ClookQueue<String> queue = new ClookQueue<>();

    private void add(long offset) {
        queue.add(offset, Long.toString(offset));
    }

    private String takeAll() {
        StringBuilder order = new StringBuilder();
        for (String next = queue.take(); next != null; next = queue.take()) {
            order.append(next).append(' ');
        }
        return order.toString().strip();
    }

    @Test
    void goesUpwardsAndThenBeginsAtTheLowestAgain() {
        add(50);
        assertEquals("50", queue.take());
        add(30);
        add(70);
        add(10);
        add(60);
        assertEquals("60 70 10 30", takeAll());
    }

    @Test
    void whatArrivesAheadJoinsTheSweepAndWhatArrivesBehindWaits() {
        add(20);
        add(80);
        assertEquals("20", queue.take());
        add(40);
        add(10);
        assertEquals("40", queue.take());
        add(30);
        assertEquals("80 10 30", takeAll());
    }

    @Test
    void requestsForOnePlaceKeepTheirOrder() {
        queue.add(5, "first");
        queue.add(5, "second");
        assertEquals("first", queue.take());
        queue.add(5, "third");
        assertEquals("second", queue.take());
        assertEquals("third", queue.take());
        assertNull(queue.take());
    }
}
