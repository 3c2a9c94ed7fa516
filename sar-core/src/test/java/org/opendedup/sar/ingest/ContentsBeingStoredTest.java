package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.ingest.ContentsBeingStored.Content;

class ContentsBeingStoredTest {
    private static final int ROUNDS = 300_000;

    private final ContentsBeingStored contents = new ContentsBeingStored();
    /** Stands for the index: how often the content of each round was stored. */
    private final AtomicIntegerArray stored = new AtomicIntegerArray(ROUNDS);

    /** The claim of one thread ends while the other one, which has looked the content up before, claims it. */
    @Test
    void aContentIsStoredByOneOfTwoThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        Phaser start = new Phaser(2);
        try {
            Future<?> one = threads.submit(() -> storeAll(start));
            Future<?> other = threads.submit(() -> storeAll(start));
            one.get(60, TimeUnit.SECONDS);
            other.get(60, TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
        for (int round = 0; round < ROUNDS; round++) {
            assertEquals(1, stored.get(round), "content " + round);
        }
    }

    private void storeAll(Phaser start) {
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 64 == 0) {
                start.arriveAndAwaitAdvance();
            }
            store(fingerprint, round);
        }
    }

    /** As a put does. */
    private void store(byte[] fingerprint, int round) {
        int before = contents.ended(fingerprint, 0);
        if (stored.get(round) > 0) {
            return;
        }
        Content content = new Content(fingerprint, 0);
        for (Content other = contents.claim(content); other != null; other = contents.claim(content)) {
            var unused = other.await();
        }
        if (contents.ended(fingerprint, 0) == before || stored.get(round) == 0) {
            stored.incrementAndGet(round);
        }
        contents.end(content);
    }
}
