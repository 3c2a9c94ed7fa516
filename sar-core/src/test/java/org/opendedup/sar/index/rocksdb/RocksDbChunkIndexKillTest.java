package org.opendedup.sar.index.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.volume.store.ChunkIndexes;

/** The promise of {@link ChunkIndex#cover}, also if the process is killed. */
@Tag("slow")
class RocksDbChunkIndexKillTest {
    private static final int CONTAINER_SLOTS = 500;
    /** This number of containers fills the smallest index's memtables several times. */
    private static final int CONTAINERS = 200;

    @TempDir
    Path folder;

    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 3; round++) {
            Path hashDb = folder.resolve("round" + round);
            int killedAt = CONTAINERS / 2 + random.nextInt(CONTAINERS / 2);

            runUntilKilled(hashDb, Order.INSERT_THEN_COVER, killedAt);

            List<Long> covered = new ArrayList<>();
            assertEquals(List.of(), incompleteContainers(hashDb, covered), "seed " + seed);
            assertFalse(covered.isEmpty(), "nothing reached the disk before the kill: seed " + seed);
            assertTrue(covered.size() <= killedAt, "seed " + seed);
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runUntilKilled(folder, Order.COVER_THEN_INSERT, CONTAINERS);

        assertEquals(List.of((long) CONTAINERS), incompleteContainers(folder, new ArrayList<>()));
    }

    enum Order {
        INSERT_THEN_COVER,
        /** Wrong on purpose: covering is even made durable, so that the kill shows the fault. */
        COVER_THEN_INSERT
    }

    private static void runUntilKilled(Path hashDb, Order order, int killedAt) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        hashDb.toString(),
                        order.name(),
                        Integer.toString(killedAt))
                .inheritIO()
                .start();
        assertTrue(child.waitFor(60, TimeUnit.SECONDS));
        assertEquals(Child.KILLED, child.exitValue());
    }

    /** The covered containers with a fingerprint that is not found; also fills {@code covered}. */
    private static List<Long> incompleteContainers(Path hashDb, List<Long> covered) throws IOException {
        List<Long> incomplete = new ArrayList<>();
        try (ChunkIndex index = ChunkIndexes.openRocksDb(hashDb, ChunkIndexes.MIN_MEMORY_BYTES)) {
            index.forEachCovered(covered::add);
            for (long container : covered) {
                Segment segment = TestSegments.of(container * CONTAINER_SLOTS, CONTAINER_SLOTS);
                index.lookup(segment);
                for (int slot = 0; slot < CONTAINER_SLOTS; slot++) {
                    if (segment.chunkId(slot) != ChunkId.of(container, slot)) {
                        incomplete.add(container);
                        break;
                    }
                }
            }
        }
        return incomplete;
    }

    /** Fills containers and is killed while it fills one. */
    static final class Child {
        static final int KILLED = 99;

        private Child() {}

        public static void main(String[] args) throws IOException {
            Path hashDb = Files.createDirectories(Path.of(args[0]));
            Order order = Order.valueOf(args[1]);
            int killedAt = Integer.parseInt(args[2]);
            ChunkIndex index = ChunkIndexes.openRocksDb(hashDb, ChunkIndexes.MIN_MEMORY_BYTES);
            for (int container = 1; container <= CONTAINERS; container++) {
                if (order == Order.COVER_THEN_INSERT) {
                    index.cover(container, new byte[500]);
                }
                if (container == killedAt) {
                    insert(index, container, CONTAINER_SLOTS / 2);
                    if (order == Order.COVER_THEN_INSERT) {
                        index.flush();
                    }
                    Runtime.getRuntime().halt(KILLED);
                }
                insert(index, container, CONTAINER_SLOTS);
                if (order == Order.INSERT_THEN_COVER) {
                    index.cover(container, new byte[500]);
                }
            }
        }

        private static void insert(ChunkIndex index, int container, int slots) throws IOException {
            Segment segment = TestSegments.of((long) container * CONTAINER_SLOTS, slots);
            for (int slot = 0; slot < slots; slot++) {
                segment.setChunkId(slot, ChunkId.of(container, slot));
                segment.setFresh(slot, true);
            }
            index.insert(segment);
        }
    }
}
