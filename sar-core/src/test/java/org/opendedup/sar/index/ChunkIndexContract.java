package org.opendedup.sar.index;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;

/**
 * The contract of every {@link ChunkIndex}. A test of an implementation extends this and opens the index. A near-exact
 * index is opened so large that it forgets nothing here: it then finds what an exact one finds, and may also know of
 * chunks of a segment that were not fresh.
 */
public abstract class ChunkIndexContract {
    private static final int CONTAINER_SLOTS = 500;

    @TempDir
    protected Path folder;

    protected ChunkIndex index;

    /** Opens the index in {@link #folder}. */
    protected abstract ChunkIndex open() throws IOException;

    /** Closes the index and opens it again. An index without persistent data returns {@link #index} unchanged. */
    protected ChunkIndex reopen() throws IOException {
        index.close();
        return open();
    }

    @BeforeEach
    void openIndex() throws IOException {
        index = open();
    }

    @AfterEach
    void closeIndex() throws IOException {
        index.close();
        index.close();
    }

    /** Whether it has files: those of an index that is open are nobody else's, and nothing is asked after its close. */
    protected boolean isPersistent() {
        return true;
    }

    @Test
    void aSecondOpenOfTheSameFolderIsRefused() {
        if (!isPersistent()) {
            return;
        }
        IOException e = assertThrows(IOException.class, this::open);
        assertTrue(e.getMessage().contains(folder.toString()), e.getMessage());
        assertFalse(e instanceof CorruptionException);
    }

    @Test
    void useAfterClosingIsAnErrorAndNotACrash() throws IOException {
        if (!isPersistent()) {
            return;
        }
        index.close();
        assertThrows(IOException.class, () -> index.lookup(TestSegments.of(0, 10)));
        assertThrows(IOException.class, () -> index.insert(TestSegments.fingerprint(1), 0, ChunkId.of(1, 1)));
        assertThrows(IOException.class, () -> index.frameTable(1));
        assertThrows(IOException.class, () -> index.flush());
    }

    @Test
    void theStampStaysUntilItIsReplacedOrTheIndexIsCleared() throws IOException {
        assertNull(index.epoch());
        Epoch first = new Epoch(new UUID(1, 2), 3, -4);
        index.stamp(first);
        index = reopen();
        assertEquals(first, index.epoch());
        Epoch second = new Epoch(new UUID(1, 2), 4, 5);
        index.stamp(second);
        assertEquals(second, index.epoch());
        index.clear();
        assertNull(index.epoch());
    }

    /** Whatever part of a fingerprint a table, a filter or a cache uses as its key: only all of it decides. */
    @Test
    void fingerprintsThatDifferInOneByteAreDifferent() throws IOException {
        List<byte[]> variants = closeFingerprints();
        for (int i = 0; i < variants.size(); i++) {
            index.insert(variants.get(i), 0, ChunkId.of(1 + i % 3, i));
        }
        assertEquals(List.of(), wronglyFound(index, variants));
        index.flush();
        index = reopen();
        assertEquals(List.of(), wronglyFound(index, variants));
        BitSet first = new BitSet();
        first.set(0);
        index.remove(1, variants.get(0), first);
        Segment asked = segmentOf(variants);
        index.lookup(asked);
        assertEquals(ChunkId.NONE, asked.hint(0));
        assertEquals(ChunkId.of(2, 1), asked.hint(1));
    }

    @Test
    void controlAnIndexThatComparesPartsOfFingerprintsFindsOthers() throws IOException {
        List<byte[]> variants = closeFingerprints();
        ChunkIndex truncated = TruncatedIndex.over(index, 16);
        for (byte[] variant : variants) {
            Segment segment = segmentOf(List.of(variant));
            truncated.lookup(segment);
            segment.setChunkId(0, ChunkId.of(1, variants.indexOf(variant)));
            segment.setFresh(0, true);
            truncated.insert(segment);
        }
        assertEquals(16, wronglyFound(truncated, variants).size());
    }

    /** One fingerprint, and those that differ from it in one byte. */
    private static List<byte[]> closeFingerprints() {
        List<byte[]> variants = new ArrayList<>(List.of(TestSegments.fingerprint(1)));
        for (int i = 0; i < Fingerprints.BYTES; i++) {
            byte[] variant = TestSegments.fingerprint(1);
            variant[i] ^= 1;
            variants.add(variant);
        }
        return variants;
    }

    private static Segment segmentOf(List<byte[]> fingerprints) {
        Segment segment = new Segment(4096);
        for (int i = 0; i < fingerprints.size(); i++) {
            segment.add(0, 4096, false);
            System.arraycopy(
                    fingerprints.get(i), 0, segment.fingerprints(), Segment.fingerprintOffset(i), Fingerprints.BYTES);
        }
        return segment;
    }

    /** Returns the numbers of fingerprints that lead to the copy of another; slots are these numbers. */
    private static List<Integer> wronglyFound(ChunkIndex index, List<byte[]> fingerprints) throws IOException {
        Segment asked = segmentOf(fingerprints);
        index.lookup(asked);
        List<Integer> wrong = new ArrayList<>();
        for (int i = 0; i < asked.count(); i++) {
            if (ChunkId.slot(asked.hint(i)) != i) {
                wrong.add(i);
            }
        }
        return wrong;
    }

    @Test
    void theHighestContainerIsThatOfWhateverWasInsertedOrCovered() throws IOException {
        assertEquals(0, index.highestContainer());
        Segment segment = TestSegments.of(0, 3);
        index.lookup(segment);
        for (int chunk = 0; chunk < 3; chunk++) {
            segment.setChunkId(chunk, ChunkId.of(7 - chunk, 1));
            segment.setFresh(chunk, true);
        }
        index.insert(segment);
        assertEquals(7, index.highestContainer());
        index.insert(TestSegments.fingerprint(99), 0, ChunkId.of(9, 0));
        assertEquals(9, index.highestContainer());
        index.cover(8, new byte[] {1});
        assertEquals(9, index.highestContainer());
        index.cover(11, new byte[] {1});
        index = reopen();
        assertEquals(11, index.highestContainer());
    }

    @Test
    void aClearedIndexKnowsNothingAndTakesAllAnew() throws IOException {
        Segment segment = TestSegments.of(0, 2000);
        index.lookup(segment);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            segment.setChunkId(chunk, ChunkId.of(1 + chunk / CONTAINER_SLOTS, chunk % CONTAINER_SLOTS));
            segment.setFresh(chunk, true);
        }
        index.insert(segment);
        index.cover(1, new byte[] {1});
        index.clear();
        for (int again = 0; again < 2; again++) {
            Segment asked = TestSegments.of(0, 2000);
            index.lookup(asked);
            for (int chunk = 0; chunk < asked.count(); chunk++) {
                assertEquals(ChunkId.NONE, asked.hint(chunk));
            }
            assertNull(index.frameTable(1));
            assertEquals(0, index.highestContainer());
            index = reopen();
        }
        Segment anew = TestSegments.of(5, 1);
        index.lookup(anew);
        anew.setChunkId(0, ChunkId.of(3, 3));
        anew.setFresh(0, true);
        index.insert(anew);
        Segment asked = TestSegments.of(5, 1);
        index.lookup(asked);
        assertEquals(ChunkId.of(3, 3), asked.hint(0));
        assertEquals(3, index.highestContainer());
    }

    @Test
    void freshChunksOfASegmentAreFoundAndAnExactIndexFindsNoOthers() throws IOException {
        Segment segment = TestSegments.of(0, 100);
        for (int i = 0; i < 100; i++) {
            segment.setChunkId(i, ChunkId.of(7, i));
            segment.setFresh(i, i % 2 == 0);
        }
        index.insert(segment);

        index.lookup(segment);

        boolean isExact = index.exactness() == ChunkIndex.Exactness.EXACT;
        for (int i = 0; i < 100; i++) {
            assertEquals(i % 2 == 0 || !isExact ? ChunkId.of(7, i) : ChunkId.NONE, segment.chunkId(i));
        }
    }

    @Test
    void zeroRunsAreNeitherLookedUpNorTouched() throws IOException {
        Segment segment = new Segment(1 << 20);
        segment.add(0, 1 << 20, true);
        insert(0, ChunkId.of(1, 0));
        TestSegments.setFingerprint(segment, 0, 0);

        index.lookup(segment);

        assertEquals(ChunkId.NONE, segment.chunkId(0));
    }

    @Test
    void aWalkVisitsEachEntryOnceAndGoesOnWhereItWas() throws IOException {
        for (int number = 0; number < 100; number++) {
            insert(number, ChunkId.of(1 + number % 7, number));
        }
        insert(5, ChunkId.of(9, 5));
        remove(6, ChunkId.of(7, 6));
        index.cover(1, new byte[10]);
        for (int again = 0; again < 2; again++) {
            for (int count : new int[] {1, 10, 99, 100, 1000}) {
                assertWalk(count);
            }
            index = reopen();
        }
    }

    private void assertWalk(int count) throws IOException {
        Map<Integer, Long> visited = new HashMap<>();
        byte[] position = null;
        do {
            int[] calls = {0};
            position = index.forEachAfter(position, count, (fingerprint, chunk) -> {
                int number = ChunkId.slot(chunk);
                assertArrayEquals(TestSegments.fingerprint(number), fingerprint);
                Long before = visited.put(number, chunk);
                // The copy that a fingerprint led to before may still be an entry of a near-exact index.
                assertTrue(
                        before == null || index.exactness() == ChunkIndex.Exactness.NEAR_EXACT && before != chunk,
                        "visited twice");
                calls[0]++;
            });
            assertTrue(calls[0] <= count && (position == null || calls[0] == count), calls[0] + " of " + count);
        } while (position != null);
        assertEquals(99, visited.size());
        assertEquals(ChunkId.of(9, 5), visited.get(5));
    }

    @Test
    void samplesAreEntriesAndSoonAllOfThem() throws IOException {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        index.sample(random, (fingerprint, chunk) -> {
            throw new AssertionError("there is no entry");
        });
        fillContainer(1);
        Set<Integer> sampled = new HashSet<>();
        for (int i = 0; i < 20 * CONTAINER_SLOTS; i++) {
            index.sample(random, (fingerprint, chunk) -> {
                assertArrayEquals(TestSegments.fingerprint(ChunkId.slot(chunk)), fingerprint);
                sampled.add(ChunkId.slot(chunk));
            });
        }
        assertTrue(sampled.size() > CONTAINER_SLOTS / 2, sampled.size() + " entries, seed " + seed);
    }

    @Test
    void theSlotsOfAContainerAreVisitedAlsoThoseThatWereReplaced() throws IOException {
        fillContainer(1);
        index.cover(1, new byte[10]);
        insert(fingerprintOf(1, 250), ChunkId.of(2, 0));
        remove(fingerprintOf(1, 251), ChunkId.of(1, 251));
        for (int again = 0; again < 2; again++) {
            Set<Integer> slots = new HashSet<>();
            index.forEachOf(1, (slot, fingerprint) -> {
                assertArrayEquals(TestSegments.fingerprint(fingerprintOf(1, slot)), fingerprint);
                slots.add(slot);
            });
            assertEquals(CONTAINER_SLOTS - 1, slots.size());
            assertFalse(slots.contains(251));
            index = reopen();
        }
    }

    @Test
    void aReplacedCopyIsNotFoundAgainThroughItsNeighbours() throws IOException {
        fillContainer(1);
        index.cover(1, new byte[10]);
        index = reopen();
        TestSegments.store(index, fingerprintOf(1, 100), 60, 2);
        insert(fingerprintOf(1, 250), ChunkId.of(3, 0));

        assertReplaced();
        index = reopen();
        assertReplaced();
        remove(fingerprintOf(1, 250), ChunkId.of(3, 0));
        index = reopen();
        Segment segment = TestSegments.of(fingerprintOf(1, 0), CONTAINER_SLOTS);
        index.lookup(segment);
        assertEquals(ChunkId.NONE, segment.chunkId(250));
    }

    @Test
    void aCopyReplacedBeforeItsContainerIsCoveredIsNotFoundAgain() throws IOException {
        fillContainer(1);
        TestSegments.store(index, fingerprintOf(1, 100), 60, 2);
        insert(fingerprintOf(1, 250), ChunkId.of(3, 0));
        index.cover(1, new byte[10]);
        index = reopen();

        assertReplaced();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theFingerprintsOfManySlotsAreRemovedExceptThoseThatLeadElsewhere(boolean isCovered) throws IOException {
        fillContainer(1);
        if (isCovered) {
            index.cover(1, new byte[10]);
            index = reopen();
        }
        TestSegments.store(index, fingerprintOf(1, 100), 60, 2);
        assertStreamFound(0, 100);
        removeEvenSlots(1, CONTAINER_SLOTS);
        assertEvenSlotsRemoved();
        index.cover(1, new byte[20]);
        index = reopen();
        assertEvenSlotsRemoved();
    }

    @Test
    void ofAsManySlotsAsAContainerCanHaveEachIsRemoved() throws IOException {
        int slots = 16384;
        TestSegments.store(index, 0, slots, 1);
        index.cover(1, new byte[10]);
        index = reopen();

        removeEvenSlots(1, slots);
        index = reopen();

        Segment asked = TestSegments.of(0, slots);
        index.lookup(asked);
        for (int slot = 0; slot < slots; slot++) {
            assertEquals(slot % 2 == 0 ? ChunkId.NONE : ChunkId.of(1, slot), asked.chunkId(slot));
        }
    }

    /** Removes the even ones of a container's first slots; slot {@code i} has fingerprint {@code i}. */
    protected final void removeEvenSlots(long container, int count) throws IOException {
        BitSet slots = new BitSet();
        for (int slot = 0; slot < count; slot += 2) {
            slots.set(slot);
        }
        index.remove(container, TestSegments.of(0, count).fingerprints(), slots);
    }

    /** Slots 100 to 159 were stored anew in container 2. */
    private void assertEvenSlotsRemoved() throws IOException {
        Segment segment = TestSegments.of(0, CONTAINER_SLOTS);
        index.lookup(segment);
        for (int slot = 0; slot < CONTAINER_SLOTS; slot++) {
            long here = slot % 2 == 0 ? ChunkId.NONE : ChunkId.of(1, slot);
            assertEquals(slot >= 100 && slot < 160 ? ChunkId.of(2, slot - 100) : here, segment.chunkId(slot));
        }
    }

    @Test
    void ofTwoStreamsThatStoreTheSameTheLastInsertedCopiesAreFound() throws IOException {
        Segment first = TestSegments.of(0, 300);
        Segment second = TestSegments.of(2, 298);
        index.lookup(first);
        index.lookup(second);
        index.insert(TestSegments.setFresh(first, 1));
        index.insert(TestSegments.setFresh(second, 2));
        index.cover(1, new byte[10]);
        index.cover(2, new byte[10]);
        index = reopen();

        Segment segment = TestSegments.of(0, 300);
        index.lookup(segment);

        for (int i = 0; i < 300; i++) {
            assertEquals(i < 2 ? ChunkId.of(1, i) : ChunkId.of(2, i - 2), segment.chunkId(i));
        }
    }

    private void assertReplaced() throws IOException {
        Segment segment = TestSegments.of(fingerprintOf(1, 0), CONTAINER_SLOTS);
        index.lookup(segment);
        for (int slot = 0; slot < CONTAINER_SLOTS; slot++) {
            long unreplaced = slot == 250 ? ChunkId.of(3, 0) : ChunkId.of(1, slot);
            boolean storedAnew = slot >= 100 && slot < 160;
            assertEquals(storedAnew ? ChunkId.of(2, slot - 100) : unreplaced, segment.chunkId(slot));
        }
    }

    @Test
    void containersOfAnyIdAreCovered() throws IOException {
        for (long container : new long[] {300, 2, 1L << 40, 1, ChunkId.MAX_CONTAINER, 255, 256}) {
            index.cover(container, new byte[600]);
        }
        index.uncover(2);
        for (int round = 0; round < 2; round++) {
            for (long container : new long[] {1, 255, 256, 300, 1L << 40, ChunkId.MAX_CONTAINER}) {
                assertArrayEquals(new byte[600], index.frameTable(container), "container " + container);
            }
            assertEquals(List.of(1L, 255L, 256L, 300L), CoveredContainers.upTo(1000, index));
            index = reopen();
        }
    }

    @Test
    void aStreamThroughManyContainersIsFoundAfterReopening() throws IOException {
        for (int container = 1; container <= 20; container++) {
            fillContainer(container);
            if (container % 5 != 0) {
                index.cover(container, new byte[100]);
            }
        }
        index.flush();
        index = reopen();

        for (int start = 0; start < 20 * CONTAINER_SLOTS; start += 400) {
            assertStreamFound(start, 400);
        }
    }

    @Test
    void whatAModelWouldAnswerIsAnswered() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Map<Long, Long> chunkIds = new HashMap<>();
        TreeMap<Long, byte[]> frameTables = new TreeMap<>();
        for (int step = 0; step < 3000; step++) {
            long fingerprint = random.nextInt(800);
            long container = 1 + random.nextInt(12);
            long chunkId = ChunkId.of(container, random.nextInt(CONTAINER_SLOTS));
            switch (random.nextInt(100) / 10) {
                case 0, 1 -> {
                    int count = 1 + random.nextInt(60);
                    TestSegments.store(index, fingerprint, count, container);
                    for (int i = 0; i < count; i++) {
                        chunkIds.put(fingerprint + i, ChunkId.of(container, i));
                    }
                }
                case 2, 3 -> {
                    insert(fingerprint, chunkId);
                    chunkIds.put(fingerprint, chunkId);
                }
                case 4 -> {
                    long known = random.nextBoolean() ? chunkIds.getOrDefault(fingerprint, chunkId) : chunkId;
                    remove(fingerprint, known);
                    chunkIds.remove(fingerprint, known);
                }
                case 5 -> {
                    byte[] frameTable = new byte[random.nextInt(50)];
                    random.nextBytes(frameTable);
                    index.cover(container, frameTable);
                    frameTables.put(container, frameTable);
                }
                case 6 -> {
                    index.uncover(container);
                    frameTables.remove(container);
                }
                case 7 -> assertArrayEquals(frameTables.get(container), index.frameTable(container), "seed " + seed);
                case 8 -> assertLookup(random.nextInt(800), random.nextInt(300), chunkIds, seed);
                default -> {
                    if (random.nextInt(10) == 0) {
                        index = reopen();
                        assertEquals(
                                new ArrayList<>(frameTables.keySet()), CoveredContainers.of(index), "seed " + seed);
                    }
                }
            }
        }
        assertLookup(0, 800, chunkIds, seed);
    }

    private void assertLookup(long first, int count, Map<Long, Long> chunkIds, long seed) throws IOException {
        Segment segment = TestSegments.of(first, count);
        index.lookup(segment);
        for (int i = 0; i < count; i++) {
            assertEquals(chunkIds.getOrDefault(first + i, ChunkId.NONE), segment.chunkId(i), "seed " + seed);
        }
    }

    @Test
    void lookupsDuringInsertsFindWhatWasInsertedBefore() throws Exception {
        AtomicInteger inserted = new AtomicInteger();
        int containers = 60;
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            Callable<Void> reader = () -> {
                Random random = new Random(Thread.currentThread().getId());
                while (inserted.get() < containers) {
                    int known = inserted.get() * CONTAINER_SLOTS;
                    if (known >= 400) {
                        assertStreamFound(random.nextInt(known - 399), 400);
                    }
                }
                return null;
            };
            List<Future<Void>> readers = List.of(threads.submit(reader), threads.submit(reader));
            for (int container = 1; container <= containers; container++) {
                fillContainer(container);
                index.cover(container, new byte[100]);
                inserted.incrementAndGet();
            }
            for (Future<Void> done : readers) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void theEstimateGrowsWithTheChunks() throws IOException {
        fillContainer(1);
        fillContainer(2);
        long estimate = index.estimatedChunks();
        assertEquals(2 * CONTAINER_SLOTS, estimate, CONTAINER_SLOTS / 10.0);
    }

    /** Slot {@code s} of container {@code c} has fingerprint {@code (c - 1) * CONTAINER_SLOTS + s}. */
    private static long fingerprintOf(long container, int slot) {
        return (container - 1) * CONTAINER_SLOTS + slot;
    }

    private void fillContainer(long container) throws IOException {
        index.insert(TestSegments.setFresh(TestSegments.of(fingerprintOf(container, 0), CONTAINER_SLOTS), container));
    }

    private void assertStreamFound(int start, int count) throws IOException {
        Segment segment = TestSegments.of(start, count);
        index.lookup(segment);
        for (int i = 0; i < count; i++) {
            int fingerprint = start + i;
            long expected = ChunkId.of(1 + fingerprint / CONTAINER_SLOTS, fingerprint % CONTAINER_SLOTS);
            assertEquals(expected, segment.chunkId(i), "fingerprint " + fingerprint);
        }
    }

    private void insert(long fingerprint, long chunkId) throws IOException {
        index.insert(TestSegments.fingerprint(fingerprint), 0, chunkId);
    }

    private void remove(long fingerprint, long chunkId) throws IOException {
        int slot = ChunkId.slot(chunkId);
        byte[] fingerprints = new byte[(slot + 1) * Fingerprints.BYTES];
        System.arraycopy(
                TestSegments.fingerprint(fingerprint), 0, fingerprints, slot * Fingerprints.BYTES, Fingerprints.BYTES);
        BitSet slots = new BitSet();
        slots.set(slot);
        index.remove(ChunkId.container(chunkId), fingerprints, slots);
    }
}
