package org.opendedup.sar.hot.copies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.ssd.ChunkRequest;

class ChunkRequestTest {
    @Test
    void aChunkIsRepeatedFromItsSecondTimeOn() {
        Random random = new Random(TestSeed.next());
        ChunkRequest request = new ChunkRequest();
        for (int round = 0; round < 200; round++) {
            request.clear();
            Set<Long> seen = new HashSet<>();
            int chunks = random.nextInt(300);
            boolean[] repeated = new boolean[chunks];
            for (int i = 0; i < chunks; i++) {
                long chunkId = 1 + random.nextInt(200);
                repeated[i] = !seen.add(chunkId);
                request.add(chunkId, 1, 0, -1);
                if (random.nextInt(10) == 0) {
                    assertEquals(repeated[i], request.isRepeated(i));
                }
            }
            for (int i = 0; i < chunks; i++) {
                assertEquals(repeated[i], request.isRepeated(i), "chunk " + i + " of " + chunks);
            }
        }
    }

    @Test
    void anotherRequestBeginsAnew() {
        ChunkRequest request = new ChunkRequest();
        request.add(7, 1, 0, -1);
        assertFalse(request.isRepeated(0));
        request.clear();
        request.add(8, 1, 0, -1);
        request.add(7, 1, 0, -1);
        assertFalse(request.isRepeated(1));
    }
}
