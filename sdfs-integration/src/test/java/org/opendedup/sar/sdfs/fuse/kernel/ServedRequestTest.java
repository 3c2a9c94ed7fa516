package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.fuse.NothingStored;

/** Who answers a request that is abandoned. */
class ServedRequestTest {
    private final List<Long> answered = new ArrayList<>();
    private final ServedRequest request = new ServedRequest(answered::add);

    @Test
    void aRequestIsAnsweredByItsWorkerUnlessItIsAbandoned() {
        request.begin(2, 100);
        assertTrue(request.end());
        request.begin(4, 100);
        request.abandon(4);
        request.abandon(4);
        assertFalse(request.end());
        assertTrue(request.end(), "it ends once");
        assertEquals(List.of(4L), answered);
    }

    @Test
    void anotherRequestIsNotAbandonedInItsPlace() {
        request.begin(2, 100);
        request.end();
        request.begin(4, 100);
        request.abandon(2);
        assertTrue(request.end());
        assertEquals(List.of(), answered);
    }

    @Test
    void onlyAKilledCallersRequestIsAbandoned() {
        IntPredicate killed = pid -> pid == 7;
        try (LateSyncs syncs = new LateSyncs(new NothingStored(0), 1);
                Interrupts interrupts = new Interrupts(List.of(request), syncs, killed)) {
            request.begin(2, 6);
            interrupts.interrupted(2);
            assertTrue(request.end());
            request.begin(4, 0);
            interrupts.interrupted(4);
            assertTrue(request.end());
            request.begin(6, 7);
            interrupts.interrupted(8);
            interrupts.interrupted(6);
            assertFalse(request.end());
        }
        assertEquals(List.of(6L), answered);
    }

    @Test
    void eachOfManyRequestsIsAnsweredOnce() throws InterruptedException {
        int requests = 100_000;
        AtomicLong others = new AtomicLong();
        ServedRequest contended = new ServedRequest(unique -> others.incrementAndGet());
        AtomicBoolean ended = new AtomicBoolean();
        Thread other = new Thread(() -> {
            while (!ended.get()) {
                contended.abandon(Math.max(2, contended.unique()));
            }
        });
        other.start();
        long own = 0;
        for (long unique = 2; unique < 2 + requests; unique++) {
            contended.begin(unique, 1);
            own += contended.end() ? 1 : 0;
        }
        ended.set(true);
        other.join();
        assertEquals(requests, own + others.get());
    }
}
