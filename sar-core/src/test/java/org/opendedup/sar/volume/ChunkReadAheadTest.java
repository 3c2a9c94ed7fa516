package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.record.StreamLogDefects;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/** A client that names chunks one by one is read ahead in the order of the containers, if the stream has no log. */
@Timeout(120)
class ChunkReadAheadTest {
    private static final int CHUNKS = 3000;
    private static final int STREAMS = 2;
    /** On a busy machine a reader, which waits for nobody, may be faster than the threads that read ahead. */
    private static final int ATTEMPTS = 10;

    private final long seed = TestSeed.next();
    private ChunkTrial trial;

    @MemoryFolder
    private Path folder;

    private final List<Long> locations = new ArrayList<>();

    /** Two streams by turns, in several containers each. */
    @BeforeEach
    void write() throws IOException {
        trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            for (long number = 0; number < CHUNKS; number++) {
                byte[] chunk = ChunkTrial.chunk(number);
                locations.add(volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, number % STREAMS)
                        .location());
            }
        }
        StreamLogDefects.LOST.make(trial.metadata, seed);
    }

    private void read(ChunkVolume volume, int number) throws IOException {
        byte[] chunk = ChunkTrial.chunk(number);
        assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), locations.get(number)));
    }

    @Test
    void aStreamIsReadAheadOverTheBordersOfContainers() throws IOException {
        long containers =
                locations.stream().map(location -> location >>> 16).distinct().count();
        assertTrue(containers > STREAMS, "the test wants streams in several containers");
        assertIsReadAhead(STREAMS);
    }

    @Test
    void twoReadersByTurnsAreReadAhead() throws IOException {
        assertIsReadAhead(1);
    }

    /** Reads every {@code step}th chunk. Half of the frames with these are asked for ahead in one of some openings. */
    private void assertIsReadAhead(int step) throws IOException {
        String found = "";
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try (ChunkVolume volume = trial.open()) {
                for (int number = 0; number < CHUNKS; number += step) {
                    read(volume, number);
                }
                // The first few are read before the reader is known.
                long frames = volume.statistics().chunkBytes() / step / (64 << 10);
                if (volume.statistics().framesAhead() > frames / 2) {
                    return;
                }
                found = volume.statistics().toString();
            }
        }
        fail(found);
    }

    @Test
    void singleReadsReadNothingAhead() throws IOException {
        try (ChunkVolume volume = trial.open()) {
            SplittableRandom random = new SplittableRandom(seed);
            // Each far from all others.
            for (int number = 100 * random.nextInt(2); number < CHUNKS; number += 200) {
                read(volume, number);
            }
            assertEquals(0, volume.statistics().framesAhead());
        }
    }

    /** For a read of any size, SDFS reads a page of 256 KiB. */
    @Test
    void singlePagesReadNothingAhead() throws IOException {
        try (ChunkVolume volume = trial.open()) {
            int chunks = 48;
            for (int page = 0; page + STREAMS * chunks <= CHUNKS; page += CHUNKS / 5) {
                for (int i = 0; i < chunks; i++) {
                    read(volume, page + STREAMS * i);
                }
            }
            assertEquals(0, volume.statistics().framesAhead());
        }
    }

    /** The disk is not asked for what the SSD serves. Control: the same reader, without the SSD. */
    @Test
    void whatHasCopiesOnTheSsdIsNotReadAheadFromTheContainers() throws IOException {
        int count = 400;
        try (ChunkFolder chunks = new ChunkFolder(folder.resolve("volume"), folder.resolve("ssd"))) {
            chunks.volume.setReadAhead(false); // No log is written.
            chunks.put(0, count);
            for (long number = 0; number < count; number++) {
                chunks.put(number * 7 % count, number * 7 % count + 1);
            }
            ChunkFolder.await(() -> chunks.locations.values().stream()
                    .allMatch(location -> chunks.volume.hot().contains(location)));
            chunks.reopen();
            assertEquals(0, chunks.unreadable());
            assertEquals(0, chunks.volume.statistics().framesAhead());
            assertEquals(count, chunks.volume.hot().status().distributor().ssdHits());
            chunks.reopen();
            chunks.volume.hot().detach();
            assertEquals(0, chunks.unreadable());
            assertTrue(chunks.volume.statistics().framesAhead() > 0);
        }
    }

    @Test
    void whatTheClientSaysItWillReadIsRead() throws Exception {
        try (ChunkVolume volume = trial.open()) {
            volume.expectRead(locations.get(7));
            volume.expectRead(12);
            volume.expectRead(-1);
            for (int wait = 0; wait < 1000 && volume.statistics().framesAhead() == 0; wait++) {
                Thread.sleep(10);
            }
            assertEquals(1, volume.statistics().framesAhead());
            read(volume, 7);
        }
    }
}
