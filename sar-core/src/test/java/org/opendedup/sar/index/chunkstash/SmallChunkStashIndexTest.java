package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;
import org.opendedup.sar.index.TestSegments;

/** The contract with so few pages in memory, and so short segments, that pages are evicted and segments recycled. */
class SmallChunkStashIndexTest extends ChunkIndexContract {
    static final StashSettings SMALL = new StashSettings(1 << 20, StashWriter.MOST_OPEN + 1, 8192);
    private static final int SLOTS = 200;

    @Override
    protected ChunkIndex open() throws IOException {
        return ChunkStashIndexFactory.open(hashDb(), SMALL);
    }

    private Path hashDb() {
        return folder.resolve("hashdb");
    }

    private void fill(long container) throws IOException {
        TestSegments.store(index, container * SLOTS, SLOTS, container);
        index.cover(container, new byte[100]);
    }

    private void removeAll(long container) throws IOException {
        TestSegments.remove(index, container * SLOTS, SLOTS, container);
    }

    private int foundOf(long container) throws IOException {
        return TestSegments.found(index, container * SLOTS, SLOTS, container);
    }

    private StashStatistics statistics() throws IOException {
        return ((ChunkStashIndex) index).statistics();
    }

    /** A table of other positions is not used, as its entries would not be found; the log has all of them. */
    @Test
    void anotherWidthOrSamplingMakesTheTableAnewFromTheLog() throws IOException {
        TestSegments.store(index, 0, 1000, 1);
        for (int[] each : new int[][] {{1, 32}, {1, 16}, {8, 16}, {1, 24}}) {
            index.close();
            index = ChunkStashIndexFactory.open(
                    hashDb(),
                    new StashSettings(
                            1 << 20, StashWriter.MOST_OPEN + 1, 8192, each[0], StashSettings.Samples.UNIFORM, each[1]));
            assertEquals(1000 / each[0], ((ChunkStashIndex) index).statistics().tableEntries());
            assertEquals(1000, TestSegments.found(index, 0, 1000, 1));
        }
    }

    @Test
    void theLogStaysShortWhileContainersComeAndGo() throws IOException {
        long longest = 0;
        for (int container = 1; container <= 400; container++) {
            fill(container);
            if (container > 10) {
                removeAll(container - 10);
            }
            longest = Math.max(longest, statistics().logBytes());
        }
        long inUse = 10L * SLOTS * StashRecords.ENTRY_BYTES;
        assertTrue(longest < 4 * inUse, longest + " bytes of log for " + inUse);
        for (int again = 0; again < 2; again++) {
            for (int container = 1; container <= 400; container++) {
                assertEquals(container > 390 ? SLOTS : 0, foundOf(container), "container " + container);
            }
            assertEquals(10 * SLOTS, index.estimatedChunks());
            index = reopen();
        }
    }

    @Test
    void mountsThatAddLittleDoNotLeaveASegmentEach() throws IOException {
        for (int container = 1; container <= 60; container++) {
            index.cover(container, new byte[50]);
            index = reopen();
        }
        try (var files = java.nio.file.Files.list(hashDb())) {
            long segments = files.filter(file -> file.getFileName().toString().startsWith(StashLog.PREFIX))
                    .count();
            assertTrue(segments <= 12, segments + " segments");
        }
        for (int container = 1; container <= 60; container++) {
            assertEquals(50, index.frameTable(container).length);
        }
    }

    private StashState state() throws ReflectiveOperationException {
        Field state = ChunkStashIndex.class.getDeclaredField("state");
        state.setAccessible(true);
        return (StashState) state.get(index);
    }

    /** Pages beyond 33 TB of chunks of 8 KiB; those before them are not made. */
    @Test
    void pointersOfMorePagesThanFourBytesNameHaveFive() throws Exception {
        fill(1);
        int lastShort = (1 << Integer.SIZE - PageDirectory.ENTRY_BITS) - 1;
        state().pages.put(lastShort - 1, 1, PageDirectory.OPEN, 0, 0);
        state().pages.remove(lastShort - 1);
        fill(2);
        fill(3);
        assertEquals(lastShort, state().pages.highest());
        assertEquals(4, state().table().pointerBytes());
        fill(4);
        fill(5);
        assertEquals(5, state().table().pointerBytes());
        removeAll(3);
        for (int again = 0; again < 2; again++) {
            for (int container = 1; container <= 5; container++) {
                assertEquals(container == 3 ? 0 : SLOTS, foundOf(container), "container " + container);
            }
            assertEquals(5, state().table().pointerBytes());
            index = reopen();
        }
    }

    @Test
    void aFullTableKeepsSamplesWithWhichNeighboursAreFound() throws IOException {
        index.close();
        int most = 4096;
        StashSettings full =
                new StashSettings((long) most * CuckooTable.slotBytes(4), StashWriter.MOST_OPEN + 1, 1 << 20);
        index = ChunkStashIndexFactory.open(hashDb(), full);
        assertEquals(ChunkIndex.Exactness.EXACT, index.exactness());
        for (int container = 1; container <= 100; container++) {
            fill(container);
        }
        assertEquals(8, statistics().interval());
        assertEquals(ChunkIndex.Exactness.NEAR_EXACT, index.exactness());
        assertTrue(statistics().tableBytes() <= most * 6L);
        for (int again = 0; again < 2; again++) {
            for (int container = 1; container <= 100; container++) {
                assertEquals(SLOTS, foundOf(container), "container " + container);
            }
            index.close();
            index = ChunkStashIndexFactory.open(hashDb(), full);
        }
        removeAll(50);
        assertEquals(0, foundOf(50));
        index = reopen();
        assertEquals(ChunkIndex.Exactness.EXACT, index.exactness(), "with more memory");
        Segment alone = TestSegments.of(70 * SLOTS + 3, 1);
        index.lookup(alone);
        assertEquals(ChunkId.of(70, 3), alone.hint(0));
    }

    /** The control of the test above: what is not in the table is not found without its neighbours. */
    @Test
    void aChunkWithoutItsNeighboursIsNotFoundThroughSamples() throws IOException {
        index.close();
        StashSettings full = new StashSettings(4096L * CuckooTable.slotBytes(4), StashWriter.MOST_OPEN + 1, 1 << 20);
        index = ChunkStashIndexFactory.open(hashDb(), full);
        for (int container = 1; container <= 100; container++) {
            fill(container);
        }
        Segment alone = TestSegments.of(3 * SLOTS + 3, 1);
        index.lookup(alone);
        assertEquals(ChunkId.NONE, alone.hint(0));
    }

    /** A table with fewer slots than there are pages: one entry of a page does not fit either. */
    @Test
    void aTableThatIsFullOfSinglePagesStillWorks() throws IOException {
        index.close();
        StashSettings least = new StashSettings(StashSettings.LEAST_TABLE_BYTES, StashWriter.MOST_OPEN + 1, 1 << 20);
        index = ChunkStashIndexFactory.open(hashDb(), least);
        int containers = 3000;
        for (int container = 1; container <= containers; container++) {
            index.insert(TestSegments.fingerprint(container), 0, ChunkId.of(container, 0));
            index.cover(container, new byte[1]);
        }
        for (int again = 0; again < 2; again++) {
            assertEquals(ChunkIndex.Exactness.NEAR_EXACT, index.exactness());
            assertTrue(statistics().tableBytes() <= StashSettings.LEAST_TABLE_BYTES + 2000, "memory is bounded");
            assertEquals(containers, index.estimatedChunks());
            int found = 0;
            for (int container = 1; container <= containers; container++) {
                Segment segment = TestSegments.of(container, 1);
                index.lookup(segment);
                found += segment.hint(0) == ChunkId.NONE ? 0 : 1;
            }
            assertTrue(found >= 1500 && found < containers, found + " found");
            index.close();
            index = ChunkStashIndexFactory.open(hashDb(), least);
        }
    }

    @Test
    void aTableThatGrewSeveralTimesFindsAll() throws IOException {
        index.close();
        index = ChunkStashIndexFactory.open(hashDb(), new StashSettings(16 << 20, StashWriter.MOST_OPEN + 1, 1 << 20));
        int containers = 1500;
        for (int container = 1; container <= containers; container++) {
            fill(container);
        }
        assertTrue(statistics().tableBytes() > 300_000 * 6L);
        Random random = new Random(TestSeed.next());
        for (int i = 0; i < 200; i++) {
            assertEquals(SLOTS, foundOf(1 + random.nextInt(containers)));
        }
        for (int i = 0; i < 2000; i++) {
            long number = SLOTS + random.nextInt(containers * SLOTS);
            Segment alone = TestSegments.of(number, 1);
            index.lookup(alone);
            assertEquals(ChunkId.of(number / SLOTS, (int) (number % SLOTS)), alone.hint(0));
        }
    }
}
