package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The least capacity has space for the bytes that are appended at once. */
class LeastCapacityTest {
    private static final int CHUNK = 4096;
    /** One buffer that the writing thread has, and a full one after it. */
    private static final int CHUNKS = 1 + OfferQueue.BUFFER_BYTES / CHUNK;

    @TempDir
    Path folder;

    /**
     * Offers incompressible chunks, so that all but the first are written as one record batch. Returns how many are on
     * the SSD.
     */
    private int landed(long capacity) throws IOException, InterruptedException {
        SsdFixture fixture = new SsdFixture(folder);
        fixture.capacity = capacity;
        Gate writes = new Gate();
        try (SsdStore store = fixture.open(writes)) {
            writes.close();
            Random random = new Random(7);
            byte[] chunk = new byte[CHUNK];
            for (int id = 1; id <= CHUNKS; id++) {
                random.nextBytes(chunk);
                OfferAnswer answer =
                        store.offer(id, SsdFixture.fingerprintPrefix(chunk), 5, 1, SsdFixture.CAUSE, chunk, 0, CHUNK);
                assertEquals(OfferAnswer.TAKEN, answer, "chunk " + id);
                if (id == 1) {
                    writes.awaitOne();
                }
            }
            writes.open();
            store.drain();
            assertEquals(CHUNKS, fixture.fate(OfferFate.LANDED) + fixture.fate(OfferFate.NO_ROOM));
            return fixture.fate(OfferFate.LANDED);
        } finally {
            writes.open();
        }
    }

    @Test
    void aFullBufferLands() throws Exception {
        assertEquals(CHUNKS, landed(SsdSize.leastCapacity()));
    }

    /** The control. */
    @Test
    void withTwoMebibytesLessItDoesNot() throws Exception {
        assertEquals(1, landed(SsdSize.leastCapacity() - (2 << 20)));
    }
}
