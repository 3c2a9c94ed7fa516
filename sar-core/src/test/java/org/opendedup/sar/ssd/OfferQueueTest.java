package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OfferQueueTest {
    private final OfferQueue queue = new OfferQueue();
    private final List<Long> unwanted = new ArrayList<>();

    @Test
    void whatIsWithdrawnBeforeItIsTakenOrWhileItIsWrittenIsTold() throws InterruptedException {
        for (long id = 1; id <= 4; id++) {
            assertEquals(OfferAnswer.TAKEN, queue.offer(id, 0, 1, 1, new byte[10], 0, 10));
        }
        assertTrue(queue.withdraw(2));
        assertEquals(4, queue.take(0).count());
        assertTrue(queue.withdraw(4));
        assertFalse(queue.withdraw(5));
        queue.done(unwanted::add);
        assertEquals(List.of(2L, 4L), unwanted);

        assertFalse(queue.withdraw(1), "it has arrived");
        queue.offer(2, 0, 1, 1, new byte[10], 0, 10);
        queue.take(0);
        queue.done(unwanted::add);
        assertEquals(List.of(2L, 4L), unwanted, "it is wanted again");
    }
}
