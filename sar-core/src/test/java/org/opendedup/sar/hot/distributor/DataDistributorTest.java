package org.opendedup.sar.hot.distributor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.hot.copies.FakeCopyStore;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/** An SSD that answers too slowly, and readers that no longer use it. */
class DataDistributorTest {
    private final FakeCopyStore ssd = new FakeCopyStore();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final SsdHealth health = new SsdHealth() {
        @Override
        public void onSuspended(Duration pause) {
            told.add("suspended for " + pause.toSeconds() + " s");
        }

        @Override
        public void onResumed() {
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

    /** Chunks 1 to {@code count}, all to be read from the SSD. */
    private ChunkRequest request(int count) {
        ChunkRequest request = new ChunkRequest();
        for (int i = 0; i < count; i++) {
            ssd.copies.put(i + 1L, new byte[] {(byte) i});
            request.add(i + 1L, 1, 0, 0);
            request.setSource(i, Source.SSD);
        }
        return request;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 32, 33, 511, 512, 513, 1024, 1025, 5000})
    void aRequestMayHaveAnyNumberOfCopies(int copies) throws Exception {
        ChunkRequest request = request(copies);
        try (DataDistributor distributor = new DataDistributor(
                () -> ssd, "test", health, () -> (data, offset, length, fingerprintPrefix) -> true)) {
            assertTrue(distributor.start(request).await());
        }
        for (int i = 0; i < copies; i++) {
            byte[] data = request.data(i);
            assertTrue(data != null && data[0] == (byte) i, "chunk " + i);
        }
        assertEquals(copies, ssd.chunksRead.get());
    }

    @Test
    void oneLateRequestOfManyPartsIsOneLateAnswer() throws Exception {
        ssd.gate = new CountDownLatch(1);
        try (DataDistributor distributor = new DataDistributor(() -> ssd, "test", health)) {
            assertFalse(distributor
                    .start(request(32 * (LatenessBreaker.MOST_LATE_IN_A_ROW + 1)))
                    .await());
            assertTrue(distributor.isActive(), "told: " + told);
            for (int i = 1; i < LatenessBreaker.MOST_LATE_IN_A_ROW; i++) {
                assertFalse(read(distributor));
            }
            assertFalse(distributor.isActive(), "the control: several in a row suspend it");
        } finally {
            ssd.gate.countDown();
        }
    }
}
