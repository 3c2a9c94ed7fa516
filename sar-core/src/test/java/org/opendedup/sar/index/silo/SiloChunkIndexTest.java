package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.index.rocksdb.RocksDbChunkIndexFactory;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;

/** Blocks of four segments of 100 chunks of 4 KiB; one is cached, and none stays after it was written. */
class SiloChunkIndexTest {
    static final int SEGMENT = 100;
    static final SiloSettings SMALL =
            new SiloSettings(2 << 20, 4L * SEGMENT * 4096, 1, 0, 1 << 20, 4 << 20, Long.MAX_VALUE);

    @TempDir
    Path folder;

    private final CrashDirectory files = new CrashDirectory(1);

    @AutoClose
    private SiloChunkIndex index;

    @BeforeEach
    void openIndex() throws IOException {
        index = open(folder, files);
    }

    static SiloChunkIndex open(Path folder, Directory files) throws IOException {
        return new SiloChunkIndex(SiloRecords.open(folder, 4 << 20), new BlockFiles(files), SMALL);
    }

    private void reopen(Directory now) throws IOException {
        index.close();
        index = open(folder, now);
    }

    /** Stores what is not found, as the write path does. Returns the number of chunks found. */
    private int store(Segment segment, long container) throws IOException {
        index.lookup(segment);
        int found = 0;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.hint(chunk) == ChunkId.NONE) {
                segment.setChunkId(chunk, ChunkId.of(container, chunk));
                segment.setFresh(chunk, true);
            } else {
                found++;
            }
        }
        index.insert(segment);
        return found;
    }

    /** Stores segments of new chunks: segment {@code s} in container {@code s + 1}. */
    private void storeSegments(int from, int to) throws IOException {
        for (int segment = from; segment < to; segment++) {
            assertEquals(0, store(TestSegments.of((long) segment * SEGMENT, SEGMENT), 1 + segment));
        }
    }

    private int found(Segment segment) throws IOException {
        index.lookup(segment);
        int found = 0;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            found += segment.hint(chunk) == ChunkId.NONE ? 0 : 1;
        }
        return found;
    }

    @Test
    void aSimilarSegmentBringsItsBlockWhichFindsItsNeighbours() throws IOException {
        storeSegments(0, 40);
        assertEquals(11, index.numbers().blocks());
        long readBefore = index.numbers().blockReads();
        for (int segment = 8; segment < 12; segment++) {
            assertEquals(SEGMENT, found(TestSegments.of((long) segment * SEGMENT, SEGMENT)));
        }
        assertEquals(readBefore + 1, index.numbers().blockReads(), "one read for the four segments of a block");
    }

    /** Section 2.3: S22 has another representative than S12, and is found because S21 was. */
    @Test
    void aSegmentThatIsSimilarToNoneIsFoundBesideOneThatIs() throws IOException {
        storeSegments(0, 40);
        Segment unlike = new Segment(4096);
        Segment whole = TestSegments.of(9 * SEGMENT, SEGMENT);
        int representative = Representative.of(whole, 0, whole.count());
        for (int chunk = 0; chunk < SEGMENT; chunk++) {
            if (chunk != representative) {
                unlike.add(0, 4096, false);
                TestSegments.setFingerprint(unlike, unlike.count() - 1, 9 * SEGMENT + chunk);
            }
        }
        assertEquals(0, found(unlike), "the control: nothing leads to its block");
        assertEquals(SEGMENT, found(TestSegments.of(8 * SEGMENT, SEGMENT)));
        assertEquals(SEGMENT - 1, found(unlike));
    }

    @Test
    void theDuplicatesOfASegmentAreInItsNewBlockToo() throws IOException {
        storeSegments(0, 40);
        Segment version = TestSegments.of(8 * SEGMENT, SEGMENT);
        int changed = Representative.of(version, 0, version.count()) == 0 ? 1 : 0;
        TestSegments.setFingerprint(version, changed, 1_000_000);
        assertEquals(SEGMENT - 1, store(version, 100));
        index.lookup(TestSegments.of(0, SEGMENT));
        storeSegments(60, 70);
        // Its block is not in memory, and the representative of both versions leads to the newer one.
        Segment again = TestSegments.of(8 * SEGMENT, SEGMENT);
        TestSegments.setFingerprint(again, changed, 1_000_000);
        assertEquals(SEGMENT, found(again));
    }

    @Test
    void aPartlyFilledBlockIsContinuedAfterReopening() throws IOException {
        for (int segment = 0; segment < 4; segment++) {
            storeSegments(segment, segment + 1);
            index.cover(1 + segment, new byte[] {1});
            reopen(files);
            assertEquals(segment < 3 ? 1 : 2, index.numbers().blocks());
        }
        assertEquals(List.of("000000/00000001.block"), files.list());
        for (int segment = 0; segment < 4; segment++) {
            assertNotNull(index.frameTable(1 + segment));
            assertEquals(SEGMENT, found(TestSegments.of((long) segment * SEGMENT, SEGMENT)));
        }
    }

    @Test
    void chunksThatAreInsertedSinglyFormSegments() throws IOException {
        for (int i = 0; i < 3000; i++) {
            index.insert(TestSegments.fingerprint(i), 0, ChunkId.of(1 + i / 500, i % 500));
        }
        for (int container = 1; container <= 6; container++) {
            index.cover(container, new byte[] {1});
        }
        reopen(files);
        // A block of this index ends after 200 of them, and so does its segment.
        assertEquals(15, index.numbers().representatives());
        assertEquals(200, found(TestSegments.of(0, 200)));
        assertEquals(200, found(TestSegments.of(1400, 200)));
    }

    @Test
    void aSegmentOfTheIndexIsAPartOfASegmentOfIngestOrSeveral() throws IOException {
        for (long[] each : new long[][] {{256 << 10, 40}, {2 << 20, 5}, {4 << 20, 3}}) {
            SiloSettings settings = new SiloSettings(each[0], 256 << 20, 1, 1, 1 << 20, 4 << 20, Long.MAX_VALUE);
            Path other = folder.resolve("segments" + each[0]);
            BlockFiles blocks = new BlockFiles(new CrashDirectory(1));
            try (SiloChunkIndex sized = new SiloChunkIndex(SiloRecords.open(other, 4 << 20), blocks, settings)) {
                for (int i = 0; i < 5; i++) {
                    TestSegments.store(sized, i * 512L, 512, 1 + i);
                }
                sized.flush();
                assertEquals(each[1], sized.numbers().representatives(), each[0] + " bytes");
                assertEquals(512, TestSegments.found(sized, 512, 512, 2));
            }
        }
    }

    @Test
    void chosenSizesAreTakenAsFarAsMemoryAllows() {
        SiloSettings usual = SiloSettings.of(64 << 20);
        assertEquals(256L << 20, usual.blockBytes());
        assertEquals(SiloSettings.CACHED_BLOCKS, usual.cachedBlocks());
        SiloSettings chosen = SiloSettings.of(64 << 20, IndexParameters.parse("segment=1MB,block=64MB,cache=40"));
        assertEquals(1 << 20, chosen.segmentBytes());
        assertEquals(64L << 20, chosen.blockBytes());
        assertEquals(40, chosen.cachedBlocks());
        assertEquals(
                1L << 30,
                SiloSettings.of(1L << 50, IndexParameters.parse("block=1GB")).blockBytes());
        List<String> extremes = List.of(
                "block=1GB,cache=1024", "block=1MB,cache=1024", "block=1MB,segment=8MB,cache=1024", "segment=64KB");
        for (String each : extremes) {
            for (int mib : new int[] {8, 16, 64}) {
                SiloSettings settings = SiloSettings.of((long) mib << 20, IndexParameters.parse(each));
                long blocks = settings.cachedBlocks() + settings.writtenBlocks() + 1;
                long heldBytes = settings.blockBytes() + settings.segmentBytes();
                long needed = blocks * SiloSettings.BLOCK_MEMORY_BYTES * heldBytes / SiloSettings.BLOCK_BYTES;
                assertTrue(needed <= settings.residentBytes(), each + ": " + settings);
                long all = settings.residentBytes() + settings.similarityBytes() + settings.databaseBytes();
                assertTrue(all <= (long) mib << 20, each + ": " + settings);
                assertTrue(blocks >= 4);
            }
        }
    }

    /** Blocks of small chunks have more entries than the plan of the memory has for them. */
    @Test
    void blocksInMemoryTakeNoMoreThanTheirPart() throws IOException {
        storeSegments(0, 60);
        assertTrue(residentBytes(Long.MAX_VALUE) > 100_000, "the control");
        assertTrue(residentBytes(100_000) <= 100_000);
        assertTrue(residentBytes(1) > 1, "one is cached all the same");
    }

    /** Looks for segments of many blocks; returns what the blocks in memory take. */
    private long residentBytes(long most) throws IOException {
        index.close();
        SiloSettings settings = new SiloSettings(2 << 20, 4L * SEGMENT * 4096, 20, 0, 1 << 20, 4 << 20, most);
        index = new SiloChunkIndex(SiloRecords.open(folder, 4 << 20), new BlockFiles(files), settings);
        for (int segment = 0; segment < 60; segment += 4) {
            assertEquals(SEGMENT, found(TestSegments.of((long) segment * SEGMENT, SEGMENT)));
        }
        return index.numbers().blockBytes();
    }

    /** Whatever is found is a copy of that fingerprint that was inserted and not removed. */
    @Test
    void whateverIsFoundWasInsertedForThatFingerprintAndNotRemoved() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Map<Long, Set<Long>> copies = new HashMap<>();
        long container = 1;
        int found = 0;
        for (int step = 0; step < 600; step++) {
            long first = random.nextInt(4000);
            Segment segment = TestSegments.of(first, 1 + random.nextInt(150));
            index.lookup(segment);
            container++;
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                long fingerprint = first + chunk;
                Set<Long> known = copies.computeIfAbsent(fingerprint, number -> new HashSet<>());
                long hint = segment.hint(chunk);
                if (hint != ChunkId.NONE) {
                    found++;
                    assertTrue(known.contains(hint), "seed " + seed);
                } else {
                    segment.setChunkId(chunk, ChunkId.of(container, chunk));
                    segment.setFresh(chunk, true);
                    known.add(ChunkId.of(container, chunk));
                }
            }
            index.insert(segment);
            index.cover(container, new byte[] {1});
            if (random.nextInt(3) == 0) {
                // As a collection: some slots of a container die.
                long victim = 1 + random.nextInt((int) container);
                byte[] fingerprints = new byte[150 * 32];
                BitSet slots = new BitSet();
                copies.forEach((fingerprint, ids) -> ids.removeIf(id -> {
                    boolean dies = ChunkId.container(id) == victim && random.nextBoolean();
                    if (dies) {
                        slots.set(ChunkId.slot(id));
                        byte[] bytes = TestSegments.fingerprint(fingerprint);
                        System.arraycopy(bytes, 0, fingerprints, ChunkId.slot(id) * 32, 32);
                    }
                    return dies;
                }));
                index.remove(victim, fingerprints, slots);
            }
            if (random.nextInt(20) == 0) {
                reopen(files);
            }
        }
        assertTrue(found > 1000, found + " found: seed " + seed);
    }

    @Test
    void entriesOfAllBlocksAreVisitedInTheirOrder() throws IOException {
        storeSegments(0, 10);
        List<byte[]> all = new ArrayList<>();
        for (int number = 0; number < 10 * SEGMENT; number++) {
            all.add(TestSegments.fingerprint(number));
        }
        BitSet slots = new BitSet();
        slots.set(0, SEGMENT);
        index.remove(4, TestSegments.of(3 * SEGMENT, SEGMENT).fingerprints(), slots);
        Set<String> gone = new HashSet<>();
        for (int number = 3 * SEGMENT; number < 4 * SEGMENT; number++) {
            gone.add(Arrays.toString(TestSegments.fingerprint(number)));
        }
        Set<String> expected = all.stream()
                .map(Arrays::toString)
                .filter(fingerprint -> !gone.contains(fingerprint))
                .collect(Collectors.toSet());
        Set<String> visited = new HashSet<>();
        byte[] position = null;
        do {
            position = index.forEachAfter(position, 300, (fingerprint, id) -> {
                assertTrue(visited.add(Arrays.toString(fingerprint)), "visited twice");
            });
        } while (position != null);
        assertEquals(expected, visited);
        Random random = new Random(1);
        Set<String> sampled = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            index.sample(random, (fingerprint, id) -> sampled.add(Arrays.toString(fingerprint)));
        }
        assertTrue(expected.containsAll(sampled));
        assertTrue(sampled.size() > 50, () -> sampled.size() + " different ones of 200");
    }

    @Test
    void theSlotsOfAContainerAreVisitedInWhateverBlockTheyAre() throws IOException {
        storeSegments(0, 40);
        Set<Integer> slots = new HashSet<>();
        index.forEachOf(9, (slot, fingerprint) -> {
            assertArrayEquals(TestSegments.fingerprint(8 * SEGMENT + slot), fingerprint);
            slots.add(slot);
        });
        assertEquals(SEGMENT, slots.size());
        index.uncover(9);
        index.forEachOf(9, (slot, fingerprint) -> {
            throw new AssertionError("its fingerprints were kept");
        });
    }

    @Test
    void aLostBlockUncoversItsContainersAndNoOthers() throws IOException {
        storeSegments(0, 40);
        for (int container = 1; container <= 40; container++) {
            index.cover(container, new byte[] {1});
        }
        reopen(files);
        assertEquals(0, index.numbers().lostBlocks());
        assertEquals(40, covered(), "the control: all are covered while no block is lost");
        // Missing, torn, flipped, foreign.
        byte[] whole = files.contents("000000/00000004.block");
        files.delete("000000/00000002.block");
        files.put("000000/00000004.block", Arrays.copyOf(whole, whole.length / 2));
        byte[] flipped = files.contents("000000/00000006.block").clone();
        flipped[flipped.length - 20] ^= 4;
        files.put("000000/00000006.block", flipped);
        files.put("000000/00000008.block", foreignBlock());
        reopen(files);
        assertEquals(1, index.numbers().lostBlocks(), "a missing file is noticed at once");
        for (int block : new int[] {2, 4, 6, 8}) {
            for (int segment = 4 * (block - 1); segment < 4 * block; segment++) {
                assertEquals(0, found(TestSegments.of((long) segment * SEGMENT, SEGMENT)));
                assertNull(index.frameTable(1 + segment));
            }
        }
        assertEquals(4, index.numbers().lostBlocks());
        assertEquals(24, covered());
        // What is read again from the directories is found again, also after the next opening.
        storeSegments(4, 8);
        for (int container = 5; container <= 8; container++) {
            index.cover(container, new byte[] {1});
        }
        reopen(files);
        assertEquals(SEGMENT, found(TestSegments.of(6 * SEGMENT, SEGMENT)));
        assertEquals(28, covered());
        assertEquals(0, index.numbers().lostBlocks(), "none is missing a second time");
    }

    private byte[] foreignBlock() throws IOException {
        CrashDirectory others = new CrashDirectory(2);
        SiloChunkIndex mine = index;
        try (SiloChunkIndex other = open(folder.resolve("other"), others)) {
            index = other;
            storeSegments(0, 40);
            return others.contents("000000/00000008.block");
        } finally {
            index = mine;
        }
    }

    private int covered() throws IOException {
        return CoveredContainers.of(index).size();
    }

    @Test
    void aContainerWhoseBlockCouldNotBeWrittenIsCoveredOnlyWhenAllIsInsertedAgain() throws IOException {
        storeSegments(0, 3);
        index.cover(1, new byte[] {1});
        index.flush();
        files.noSpaceAfter(0);
        Segment fourth = TestSegments.of(3 * SEGMENT, SEGMENT);
        assertThrows(IOException.class, () -> store(fourth, 4));
        files.noSpaceAfter(Long.MAX_VALUE);
        assertThrows(IOException.class, () -> index.cover(4, new byte[] {1}));
        assertNull(index.frameTable(4));
        storeSegments(3, 4);
        index.cover(4, new byte[] {1});
        reopen(files);
        assertNotNull(index.frameTable(4));
        assertEquals(SEGMENT, found(TestSegments.of(3 * SEGMENT, SEGMENT)));
        assertEquals(SEGMENT, found(TestSegments.of(0, SEGMENT)), "what was durable before is still there");
        assertNotNull(index.frameTable(1));
        assertEquals(0, index.numbers().lostBlocks());
    }

    @Test
    void anIndexOfAnotherKindIsRefused() throws IOException {
        index.close();
        assertThrows(
                UnsupportedFormatException.class,
                () -> RocksDbChunkIndexFactory.open(folder, RocksDbChunkIndexFactory.MIN_MEMORY_BYTES));
    }

    @Test
    void aDestroyedIndexIsEmpty() throws IOException {
        Path real = folder.resolve("real");
        SiloSettings settings = SiloSettings.of(SiloSettings.MIN_MEMORY_BYTES);
        try (SiloChunkIndex stored = SiloChunkIndexFactory.open(real, settings)) {
            stored.insert(TestSegments.fingerprint(1), 0, ChunkId.of(1, 1));
        }
        SiloChunkIndexFactory.destroy(real);
        assertTrue(SiloChunkIndexFactory.isLost(real));
        try (SiloChunkIndex empty = SiloChunkIndexFactory.open(real, settings)) {
            assertFalse(SiloChunkIndexFactory.isLost(real));
            assertEquals(0, empty.highestContainer());
            assertEquals(1, empty.numbers().blocks());
        }
        assertThrows(IllegalArgumentException.class, () -> SiloSettings.of(SiloSettings.MIN_MEMORY_BYTES - 1));
    }
}
