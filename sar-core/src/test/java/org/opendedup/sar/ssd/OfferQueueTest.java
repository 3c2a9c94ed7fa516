package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OfferQueueTest {
    private static final int CHUNK = 64 << 10;

    /** Number of chunks of 64 KiB that a queue accepts at once. */
    private static int taken(OfferQueue queue) {
        int taken = 0;
        while (queue.offer(taken + 1, 0, 1, 1, 0, new byte[CHUNK], 0, CHUNK) == OfferAnswer.TAKEN) {
            taken++;
        }
        return taken;
    }

    @Test
    void theQueueTakesWhatItsMemoryHoldsAndTwoBuffersAtLeast() throws InterruptedException {
        int perBuffer = OfferQueue.BUFFER_BYTES / CHUNK;
        assertEquals(OfferQueue.LEAST_BUFFERS * perBuffer, taken(new OfferQueue(0)));
        // One is for the writing thread's batch.
        OfferQueue large = new OfferQueue(11L * OfferQueue.BUFFER_HEAP_BYTES);
        assertEquals(10 * perBuffer, taken(large));
        assertEquals(OfferAnswer.QUEUE_FULL, large.offer(1 << 20, 0, 1, 1, 0, new byte[CHUNK], 0, CHUNK));
        assertEquals(10 * perBuffer, large.chunks());
        assertEquals(10L * OfferQueue.BUFFER_BYTES, large.bytes());
        assertFalse(large.hasRoom());
        for (int buffers = 10; buffers > 0; buffers--) {
            assertEquals(perBuffer, large.take(0).count(), "the oldest first");
            large.done(unwanted::add);
            assertEquals((buffers - 1) * perBuffer, large.chunks());
            assertEquals(buffers - 1 <= 5, large.hasRoom());
        }
        assertEquals(0, large.bytes());
    }

    @Test
    void whatIsOfferedAgainAfterItWasWithdrawnArrives() throws InterruptedException {
        queue.offer(7, 0, 1, 1, 0, new byte[10], 0, 10);
        assertTrue(queue.withdraw(7));
        assertFalse(queue.withdraw(7), "it is withdrawn already");
        assertFalse(queue.contains(7));
        assertEquals(OfferAnswer.PRESENT, queue.offer(7, 0, 1, 1, 0, new byte[10], 0, 10));
        assertTrue(queue.contains(7));
        queue.take(0);
        queue.done(unwanted::add);
        assertEquals(List.of(), unwanted);
    }

    private final OfferQueue queue = new OfferQueue(0);
    private final List<Long> unwanted = new ArrayList<>();

    @Test
    void whatIsWithdrawnBeforeItIsTakenOrWhileItIsWrittenIsTold() throws InterruptedException {
        for (long id = 1; id <= 4; id++) {
            assertEquals(OfferAnswer.TAKEN, queue.offer(id, 0, 1, 1, 0, new byte[10], 0, 10));
        }
        assertTrue(queue.withdraw(2));
        assertEquals(4, queue.take(0).count());
        assertTrue(queue.withdraw(4));
        assertFalse(queue.withdraw(5));
        queue.done(unwanted::add);
        assertEquals(List.of(2L, 4L), unwanted);

        assertFalse(queue.withdraw(1), "it has arrived");
        queue.offer(2, 0, 1, 1, 0, new byte[10], 0, 10);
        queue.take(0);
        queue.done(unwanted::add);
        assertEquals(List.of(2L, 4L), unwanted, "it is wanted again");
    }
}
