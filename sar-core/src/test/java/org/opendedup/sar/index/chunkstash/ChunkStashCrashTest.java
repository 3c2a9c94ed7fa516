package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Cuts the power at random moments of random work, in which pages are sealed and segments recycled. Afterwards the
 * index opens without a complaint; each covered container is complete; what is found is a copy that was stored; and the
 * epoch is at least the last one that was reported as durable.
 */
class ChunkStashCrashTest {
    private static final int FINGERPRINTS = 1500;
    private static final int STEPS = 400;
    private static final int ROUNDS = TestSeed.rounds(20);

    private final Random random;
    private final long seed = TestSeed.next();

    /** The chunks that each fingerprint was ever inserted for. */
    private final Map<Integer, Set<Long>> stored = new HashMap<>();
    /** The fingerprints that were inserted for a container, and not removed. */
    private final Map<Long, Set<Integer>> ofContainer = new HashMap<>();
    /** Containers from which slots were removed or that were uncovered: a crash may bring both back. */
    private final Set<Long> changed = new HashSet<>();

    private long nextContainer = 1;
    private long epoch;

    ChunkStashCrashTest() {
        random = new Random(seed);
    }

    enum Order {
        INSERT_THEN_COVER,
        /** Wrong on purpose. */
        COVER_THEN_INSERT
    }

    private static ChunkStashIndex open(CrashDirectory directory) throws IOException {
        return ChunkStashIndexFactory.open(directory, SmallChunkStashIndexTest.SMALL, StashLimits.NONE, () -> {});
    }

    /** Opens an index with so little space that its segments are moved. */
    private static ChunkStashIndex open(CrashDirectory directory, CrashDiskIndexes behind) throws IOException {
        IndexSpace space = IndexSpace.of(RecycledChunkStashIndexTest.MOST_BYTES);
        return ChunkStashIndexFactory.open(
                directory, SmallChunkStashIndexTest.SMALL, new StashLimits(space, behind), () -> {});
    }

    @Test
    void afterAPowerCutWhatWasMovedIsInTheLogOrOnTheDisk() throws IOException {
        int covered = 0;
        int moved = 0;
        for (int round = 0; round < ROUNDS; round++) {
            CrashDirectory directory = new CrashDirectory(random.nextLong());
            CrashDiskIndexes behind = new CrashDiskIndexes(CrashDiskIndexes.Fault.NONE);
            work(() -> open(directory, behind), Order.INSERT_THEN_COVER);
            for (int cut = 0; cut < 3; cut++) {
                CrashDirectory after = directory.crash(random.nextLong());
                CrashDiskIndexes behindAfter = behind.crash(random.nextLong());
                try (ChunkIndex index = open(after, behindAfter)) {
                    List<Long> complete = new ArrayList<>();
                    assertEquals(List.of(), incomplete(index, complete), "seed " + seed);
                    covered += complete.size();
                    moved += behindAfter.moves() > 0 ? 1 : 0;
                }
                // What an opening after a crash writes is sound as well.
                open(after.crash(random.nextLong()), behindAfter.crash(random.nextLong()))
                        .close();
            }
        }
        assertTrue(covered > 100, covered + " covered containers in all");
        assertTrue(moved > ROUNDS, moved + " openings with a disk index in use");
    }

    /** The power is cut at each forced write of a move: between any two of its steps. */
    @Test
    void aMoveMayBeCutAtEachOfItsSteps() throws IOException {
        int cuts = 0;
        for (int step : TestSeed.steps(60, 30).toArray()) {
            CrashDirectory directory = new CrashDirectory(random.nextLong());
            CrashDiskIndexes behind = new CrashDiskIndexes(CrashDiskIndexes.Fault.NONE);
            directory.failForce(1 + step);
            try {
                work(() -> open(directory, behind), Order.INSERT_THEN_COVER);
            } catch (IOException e) {
                cuts++;
            }
            try (ChunkIndex index = open(directory.crash(random.nextLong()), behind.crash(random.nextLong()))) {
                assertEquals(List.of(), incomplete(index, new ArrayList<>()), "step " + step + ", seed " + seed);
            }
        }
        assertTrue(cuts > 10, cuts + " cuts");
    }

    /** A disk index that forgets what was moved to it is found out: by its number of moves, or by what is missing. */
    @Test
    void controlADiskIndexThatSettlesLateIsCaught() throws IOException {
        int damaged = 0;
        int caught = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (var fault :
                    List.of(CrashDiskIndexes.Fault.SETTLES_LATE, CrashDiskIndexes.Fault.SETTLES_ITS_NUMBER_ONLY)) {
                CrashDirectory directory = new CrashDirectory(random.nextLong());
                CrashDiskIndexes behind = new CrashDiskIndexes(fault);
                work(() -> open(directory, behind), Order.INSERT_THEN_COVER);
                try (ChunkIndex index = open(directory.crash(random.nextLong()), behind.crash(random.nextLong()))) {
                    caught += incomplete(index, new ArrayList<>()).size();
                } catch (CorruptionException e) {
                    damaged++;
                }
            }
        }
        assertTrue(damaged > 0 && caught > 0, damaged + " damaged, " + caught + " incomplete, seed " + seed);
    }

    @Test
    void afterAPowerCutCoveredContainersAreComplete() throws IOException {
        int covered = 0;
        int recycled = 0;
        for (int round = 0; round < ROUNDS; round++) {
            CrashDirectory directory = new CrashDirectory(random.nextLong());
            work(directory, Order.INSERT_THEN_COVER);
            for (int cut = 0; cut < 3; cut++) {
                CrashDirectory after = directory.crash(random.nextLong());
                try (ChunkIndex index = open(after)) {
                    List<Long> complete = new ArrayList<>();
                    assertEquals(List.of(), incomplete(index, complete), "seed " + seed);
                    covered += complete.size();
                    assertTrue(
                            index.epoch() == null ? epoch == 0 : index.epoch().number() >= epoch, "seed " + seed);
                }
                // What an opening after a crash writes is sound as well.
                open(after.crash(random.nextLong())).close();
                recycled += after.exists(StashFiles.CHECKPOINT) ? 1 : 0;
            }
        }
        assertTrue(covered > 100, covered + " covered containers in all");
        assertTrue(recycled > ROUNDS / 2, recycled + " openings with a checkpoint");
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws IOException {
        int caught = 0;
        for (int round = 0; round < ROUNDS; round++) {
            CrashDirectory directory = new CrashDirectory(random.nextLong());
            work(directory, Order.COVER_THEN_INSERT);
            try (ChunkIndex index = open(directory.crash(random.nextLong()))) {
                caught += incomplete(index, new ArrayList<>()).size();
            }
        }
        assertTrue(caught > 0, "seed " + seed);
    }

    /** Without forces a segment may be lost although a later one is there. */
    @Test
    void controlALogThatIsNotForcedIsDamaged() throws IOException {
        int damaged = 0;
        for (int round = 0; round < ROUNDS; round++) {
            CrashDirectory directory = new CrashDirectory(random.nextLong(), true);
            work(directory, Order.INSERT_THEN_COVER);
            try {
                open(directory.crash(random.nextLong())).close();
            } catch (CorruptionException e) {
                damaged++;
            }
        }
        assertTrue(damaged > 0, "seed " + seed);
    }

    @FunctionalInterface
    private interface Opening {
        ChunkIndex open() throws IOException;
    }

    private void work(CrashDirectory directory, Order order) throws IOException {
        work(() -> open(directory), order);
    }

    /** Works, and leaves the index open. */
    private void work(Opening opening, Order order) throws IOException {
        stored.clear();
        ofContainer.clear();
        changed.clear();
        nextContainer = 1;
        epoch = 0;
        ChunkIndex index = opening.open();
        int steps = random.nextInt(STEPS);
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(12)) {
                case 0 -> removeSome(index);
                case 1 -> index.uncover(known());
                case 2 -> {
                    if (random.nextInt(6) == 0) {
                        index.stamp(new Epoch(new UUID(1, 2), ++epoch, 7));
                    }
                }
                case 3 -> {
                    if (random.nextInt(6) == 0) {
                        index.flush();
                    }
                }
                case 4 -> {
                    if (random.nextInt(6) == 0) {
                        index.close();
                        index = opening.open();
                    }
                }
                default -> fill(index, order);
            }
        }
    }

    private long known() {
        long container = 1 + random.nextInt((int) nextContainer);
        changed.add(container);
        return container;
    }

    private void fill(ChunkIndex index, Order order) throws IOException {
        // Two containers at a time, as two streams have them.
        long[] containers = {nextContainer++, nextContainer++};
        if (order == Order.COVER_THEN_INSERT) {
            index.cover(containers[0], new byte[300]);
        }
        for (int part = 0; part < 4; part++) {
            long container = containers[part & 1];
            int first = random.nextInt(FINGERPRINTS);
            Segment segment = TestSegments.of(first, 1 + random.nextInt(40));
            index.lookup(segment);
            requireStored(segment, first);
            for (int i = 0; i < segment.count(); i++) {
                long chunk = ChunkId.of(container, part * 100 + i);
                segment.setChunkId(i, chunk);
                segment.setFresh(i, random.nextInt(3) > 0 || segment.hint(i) == ChunkId.NONE);
                if (segment.isFresh(i)) {
                    stored.computeIfAbsent(first + i, none -> new HashSet<>()).add(chunk);
                    ofContainer
                            .computeIfAbsent(container, none -> new HashSet<>())
                            .add(first + i);
                }
            }
            index.insert(segment);
        }
        if (order == Order.INSERT_THEN_COVER) {
            index.cover(containers[0], new byte[300]);
            if (random.nextInt(3) > 0) {
                index.cover(containers[1], new byte[300]);
            }
        }
    }

    private void removeSome(ChunkIndex index) throws IOException {
        long container = known();
        byte[] fingerprints = new byte[400 * Fingerprints.BYTES];
        BitSet slots = new BitSet();
        Set<Integer> there = ofContainer.getOrDefault(container, Set.of());
        for (int fingerprint : List.copyOf(there)) {
            for (long chunk : stored.get(fingerprint)) {
                if (ChunkId.container(chunk) == container && random.nextInt(4) > 0) {
                    int slot = ChunkId.slot(chunk);
                    slots.set(slot);
                    System.arraycopy(
                            TestSegments.fingerprint(fingerprint),
                            0,
                            fingerprints,
                            slot * Fingerprints.BYTES,
                            Fingerprints.BYTES);
                    there.remove(fingerprint);
                }
            }
        }
        index.remove(container, fingerprints, slots);
    }

    /** The covered containers with a fingerprint that leads nowhere; fills {@code covered} with all. */
    private List<Long> incomplete(ChunkIndex index, List<Long> covered) throws IOException {
        covered.addAll(CoveredContainers.of(index));
        List<Long> incomplete = new ArrayList<>();
        Map<Integer, Long> found = new HashMap<>();
        Segment all = TestSegments.of(0, FINGERPRINTS + 40);
        index.lookup(all);
        requireStored(all, 0);
        for (int i = 0; i < all.count(); i++) {
            found.put(i, all.hint(i));
        }
        for (long container : covered) {
            for (int fingerprint : ofContainer.getOrDefault(container, Set.of())) {
                if (found.get(fingerprint) == ChunkId.NONE && !isRemovedElsewhere(fingerprint)) {
                    incomplete.add(container);
                    break;
                }
            }
        }
        return incomplete;
    }

    /**
     * Returns whether the copy that replaced the one of a covered container may have been removed: then it leads
     * nowhere although its container is whole.
     */
    private boolean isRemovedElsewhere(int fingerprint) {
        return stored.get(fingerprint).stream().anyMatch(chunk -> changed.contains(ChunkId.container(chunk)));
    }

    private void requireStored(Segment segment, int first) {
        for (int i = 0; i < segment.count(); i++) {
            long chunk = segment.hint(i);
            assertTrue(
                    chunk == ChunkId.NONE
                            || stored.getOrDefault(first + i, Set.of()).contains(chunk),
                    () -> ChunkId.toString(chunk) + " was never stored, seed " + seed);
        }
    }
}
