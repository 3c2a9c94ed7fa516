package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.ssd.ChunkRequest;

/** Duplicates are reported with the length of the whole run that they belong to. */
class StreamRunsTest {
    private static final int CHUNK_BYTES = 1000;
    private static final int LONG_RUN = 10 * CHUNK_BYTES;

    /** What was reported: chunk and bytes of its run. */
    private final List<String> reported = new ArrayList<>();

    private final StreamRuns runs = new StreamRuns(new AccessListener() {
        @Override
        public boolean isActive() {
            return true;
        }

        @Override
        public void onDuplicatesMissed(int duplicates, Refusal why) {}

        @Override
        public long longRunBytes() {
            return LONG_RUN;
        }

        @Override
        public void onDuplicatesWritten(long stream, ChunkRequest duplicates) {
            for (int i = 0; i < duplicates.count(); i++) {
                assertEquals(7, duplicates.references(i));
                byte[] bytes = new byte[duplicates.length(i)];
                System.arraycopy(duplicates.data(i), duplicates.offset(i), bytes, 0, bytes.length);
                assertArrayEquals(bytes(duplicates.chunkId(i), bytes.length), bytes);
                reported.add(ChunkId.toString(duplicates.chunkId(i)) + " in " + duplicates.runBytes(i));
            }
        }

        @Override
        public void onChunksRead(ChunkRequest request, CountSource counts) {}
    });

    private static byte[] bytes(long chunk, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) chunk);
        return bytes;
    }

    private void note(long stream, long container, int slot) {
        note(stream, container, slot, CHUNK_BYTES);
    }

    private void note(long stream, long container, int slot, int length) {
        long chunk = ChunkId.of(container, slot);
        // Longer than the chunk, and used again.
        byte[] data = bytes(chunk, length + 5);
        runs.note(stream, chunk, length, 1, 7, data);
        Arrays.fill(data, (byte) (chunk + 1));
    }

    @Test
    void aRunIsReportedAtItsEndWithItsLength() {
        note(1, 5, 0);
        note(1, 5, 1);
        note(2, 5, 7);
        note(1, 5, 2);
        assertEquals(List.of(), reported);
        note(1, 6, 3);
        assertEquals(List.of("5:0 in 3000", "5:1 in 3000", "5:2 in 3000"), reported);
        reported.clear();
        runs.end(1);
        assertEquals(List.of("6:3 in 1000"), reported);
        reported.clear();
        runs.endAll();
        assertEquals(List.of("5:7 in 1000"), reported);
    }

    @Test
    void theBeginningOfALongRunIsPartOfIt() {
        for (int slot = 0; slot < 15; slot++) {
            note(1, 5, slot);
        }
        runs.endAll();
        assertEquals(15, reported.size());
        for (String report : reported) {
            int bytes = Integer.parseInt(report.substring(report.lastIndexOf(' ') + 1));
            assertTrue(bytes >= LONG_RUN, report);
        }
    }

    @Test
    void aChunkThatIsRepeatedCountsOnce() {
        note(1, 5, 0);
        note(1, 5, 0);
        note(1, 5, 1);
        runs.endAll();
        assertEquals(List.of("5:0 in 2000", "5:0 in 2000", "5:1 in 2000"), reported);
    }

    @Test
    void aRunEndsWhereAContainerEnds() {
        note(1, 5, 65535);
        note(1, 6, 0);
        assertEquals(List.of("5:65535 in 1000"), reported);
    }

    @Test
    void whatIsHeldIsBounded() {
        int length = 9000;
        for (int stream = 0; stream < 1000; stream++) {
            note(stream, 5, 2 * stream, length);
        }
        // The streams used longest ago end first; without a bound none would.
        assertTrue(reported.size() >= 1000 - 4 * 1024 * 1024 / length, reported.size() + " reports");
        runs.endAll();
        assertEquals(1000, reported.size());
    }
}
