package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.opendedup.sar.hot.copies.Requests.CHUNK_BYTES;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.Requests;
import org.opendedup.sar.ssd.ChunkRequest;

class RunsTest {
    @Test
    void neighboursOfOneContainerAreARun() {
        ChunkRequest request = new Requests().run(1, 7, 3, 1).run(1, 11, 2, 1).request;
        assertEquals(3, Runs.end(request, 0));
        assertEquals(5, Runs.end(request, 3));
        assertEquals(3L * CHUNK_BYTES, Runs.bytes(request, 0, 3));
    }

    @Test
    void theNextContainerBeginsARunThoughItsIdsGoOn() {
        int last = ChunkId.MAX_SLOTS - 1;
        ChunkRequest request = new Requests().run(1, last, 1, 1).run(2, 0, 1, 1).request;
        assertEquals(request.chunkId(0) + 1, request.chunkId(1));
        assertEquals(1, Runs.end(request, 0));
    }

    @Test
    void aChunkWantedBackwardsBeginsARun() {
        ChunkRequest request = new Requests().run(1, 8, 1, 1).run(1, 7, 1, 1).request;
        assertEquals(1, Runs.end(request, 0));
    }

    @Test
    void aChunkThatAPageBorderCutIsInTheRunOnce() {
        ChunkRequest request = new Requests().run(1, 7, 2, 1).run(1, 8, 2, 1).request;
        assertEquals(4, Runs.end(request, 0));
        assertEquals(3L * CHUNK_BYTES, Runs.bytes(request, 0, 4));
    }

    @Test
    void ofARepeatedChunkTheLongestPieceCounts() {
        long chunk = ChunkId.of(1, 0);
        ChunkRequest request =
                new Requests().chunk(chunk, 100, 1).chunk(chunk, 300, 1).chunk(chunk, 200, 1).request;
        assertEquals(300, Runs.bytes(request, 0, 3));
    }
}
