package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DataThreadsTest {
    /** Notes which thread served it. */
    private static final class Noted extends DataThreads.Handed {
        private Thread server = Thread.currentThread();
        private int served;

        @Override
        void serve() {
            server = Thread.currentThread();
            served++;
        }
    }

    @Test
    void onlySoManyEnter() {
        try (DataThreads threads = new DataThreads(2)) {
            assertTrue(threads.tryEnter());
            threads.enter();
            assertFalse(threads.tryEnter());
            threads.leave();
            assertTrue(threads.tryEnter());
        }
    }

    @Test
    void aRequestIsServedByAnotherThreadWhenTheCallReturns() {
        Noted request = new Noted();
        try (DataThreads threads = new DataThreads(1)) {
            for (int i = 1; i <= 1000; i++) {
                threads.serve(request);
                assertEquals(i, request.served);
                assertNotEquals(Thread.currentThread(), request.server);
            }
        }
    }

    @Test
    void afterTheEndTheCallerServesItself() {
        Noted request = new Noted();
        DataThreads threads = new DataThreads(1);
        threads.close();
        threads.serve(request);
        assertEquals(1, request.served);
        assertEquals(Thread.currentThread(), request.server);
    }
}
