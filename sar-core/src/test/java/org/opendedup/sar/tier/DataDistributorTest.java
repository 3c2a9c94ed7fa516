package org.opendedup.sar.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An SSD that answers too slowly, and nobody who reads from it any more. */
class DataDistributorTest {
    private final FakeCopyStore ssd = new FakeCopyStore();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final SsdHealth health = new SsdHealth() {
        @Override
        public void suspended(Duration pause) {
            told.add("suspended for " + pause.toSeconds() + " s");
        }

        @Override
        public void resumed() {
            told.add("resumed");
        }
    };

    @Test
    void aSuspendedSsdThatNobodyReadsIsProbedUntilItAnswersAgain() throws Exception {
        ssd.copies.put(1L, new byte[1]);
        ssd.copies.put(2L, new byte[1]);
        ssd.gate = new CountDownLatch(1);
        try (DataDistributor distributor = new DataDistributor(() -> ssd, "test", health)) {
            for (int i = 0; i < LatenessBreaker.MOST_LATE_IN_A_ROW; i++) {
                assertFalse(read(distributor));
            }
            assertEquals("suspended for 1 s", next());
            assertEquals("suspended for 2 s", next(), "it hangs still, as a probe found");
            ssd.gate.countDown();
            assertEquals("resumed", next());
            assertTrue(distributor.isActive());
        }
    }

    private static boolean read(DataDistributor distributor) {
        ChunkRequest request = new ChunkRequest();
        request.add(1, 1, 0, 0);
        request.setSource(0, Source.SSD);
        return distributor.start(request).await();
    }

    private String next() throws InterruptedException {
        String event = told.poll(1, TimeUnit.MINUTES);
        assertTrue(event != null, "nothing was told");
        return event;
    }
}
