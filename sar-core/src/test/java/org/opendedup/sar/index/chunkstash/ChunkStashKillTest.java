package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.index.rocksdb.DiskIndexFolder;

/** The promise of {@link ChunkIndex#cover} if the process is killed while it seals pages and recycles segments. */
@Tag("slow")
class ChunkStashKillTest {
    private static final int SLOTS = 500;

    @TempDir
    Path folder;

    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 6; round++) {
            Path hashDb = folder.resolve("round" + round);
            runAndKill(hashDb, "insert-then-cover", 40 + random.nextInt(400));
            List<Long> covered = new ArrayList<>();
            assertEquals(List.of(), incompleteContainers(hashDb, covered), "seed " + seed);
            assertFalse(covered.isEmpty(), "nothing reached the disk before the kill: seed " + seed);
        }
    }

    /** As above, with so little space that nearly all is moved to a database on the disk. */
    @Test
    void aContainerThatWasMovedIsCompleteAfterAKill() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 3; round++) {
            Path hashDb = folder.resolve("moved" + round);
            runAndKill(hashDb, "insert-then-cover-and-move", 40 + random.nextInt(100));
            List<Long> covered = new ArrayList<>();
            assertEquals(List.of(), incompleteContainers(hashDb, covered), "seed " + seed);
            assertTrue(covered.size() > 10, covered + " reached the disk before the kill: seed " + seed);
            assertTrue(Files.exists(behind(hashDb)));
        }
    }

    private static Path behind(Path hashDb) {
        return hashDb.resolveSibling(hashDb.getFileName() + "-disk");
    }

    private static ChunkStashIndex open(Path hashDb, boolean isBounded) throws IOException {
        StashLimits limits = new StashLimits(
                isBounded ? IndexSpace.of(RecycledChunkStashIndexTest.MOST_BYTES) : IndexSpace.UNBOUNDED,
                new DiskIndexFolder(behind(hashDb), 4 << 20));
        return ChunkStashIndexFactory.open(hashDb, SmallChunkStashIndexTest.SMALL, limits);
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runAndKill(folder, "cover-then-insert", 50);
        assertEquals(List.of(50L), incompleteContainers(folder, new ArrayList<>()));
    }

    /** Runs a child that reports each container, and kills it (SIGKILL) at one of them, whatever it does then. */
    private static void runAndKill(Path hashDb, String order, int atContainer) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        hashDb.toString(),
                        order)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var reports = child.inputReader()) {
            String last = "";
            for (int container = 0; container < atContainer && last != null; container++) {
                last = reports.readLine();
            }
            assertTrue(last != null, "the child ended by itself");
        } finally {
            child.destroyForcibly();
        }
        assertTrue(child.waitFor(60, TimeUnit.SECONDS));
        assertEquals(128 + 9, child.exitValue(), "killed");
    }

    private static List<Long> incompleteContainers(Path hashDb, List<Long> covered) throws IOException {
        List<Long> incomplete = new ArrayList<>();
        try (ChunkIndex index = open(hashDb, false)) {
            index.forEachCovered(covered::add);
            for (long container : covered) {
                Segment segment = TestSegments.of(container * SLOTS, SLOTS);
                index.lookup(segment);
                for (int slot = 0; slot < SLOTS; slot++) {
                    if (segment.chunkId(slot) != ChunkId.of(container, slot)) {
                        incomplete.add(container);
                        break;
                    }
                }
            }
        }
        return incomplete;
    }

    /** Fills containers, and removes old ones, until it is killed. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws IOException {
            boolean coversFirst = args[1].equals("cover-then-insert");
            ChunkIndex index = open(Files.createDirectories(Path.of(args[0])), args[1].endsWith("-and-move"));
            for (long container = 1; ; container++) {
                if (coversFirst) {
                    index.cover(container, new byte[500]);
                }
                System.out.println(container);
                if (coversFirst && container == 50) {
                    waitForTheKill();
                }
                for (int from = 0; from < SLOTS; from += 100) {
                    insert(index, container, from);
                }
                if (coversFirst) {
                    index.flush();
                } else {
                    index.cover(container, new byte[500]);
                }
                if (!coversFirst && container > 20) {
                    BitSet all = new BitSet();
                    all.set(0, SLOTS);
                    index.uncover(container - 20);
                    index.remove(
                            container - 20,
                            TestSegments.of((container - 20) * SLOTS, SLOTS).fingerprints(),
                            all);
                }
            }
        }

        private static void waitForTheKill() {
            while (true) {
                LockSupport.park();
            }
        }

        private static void insert(ChunkIndex index, long container, int from) throws IOException {
            Segment segment = TestSegments.of(container * SLOTS + from, 100);
            for (int i = 0; i < 100; i++) {
                segment.setChunkId(i, ChunkId.of(container, from + i));
                segment.setFresh(i, true);
            }
            index.insert(segment);
        }
    }
}
