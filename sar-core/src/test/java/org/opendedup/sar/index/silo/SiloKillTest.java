package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.PrivateFiles;

/** The promise of {@link SiloChunkIndex#cover} when the process is killed while it writes a block. */
@Tag("slow")
class SiloKillTest {
    private static final int SEGMENT = SiloChunkIndexTest.SEGMENT;
    private static final int CONTAINERS = 40;
    /** The block that is being written at the kill: blocks have four containers, and are flushed twice. */
    private static final String KILLED_BLOCK = "00000006";

    @TempDir
    Path folder;

    /** The records may lag: the database keeps no log, and its newest part is lost with the process. */
    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        for (HookedDirectory.Call call : new HookedDirectory.Call[] {
            HookedDirectory.Call.APPEND,
            HookedDirectory.Call.FORCE,
            HookedDirectory.Call.RENAME,
            HookedDirectory.Call.SYNC
        }) {
            Path killed = folder.resolve(call.name());
            runUntilKilled(killed, call, Order.INSERT_THEN_COVER);
            List<Long> covered = new ArrayList<>();
            assertEquals(List.of(), incompleteContainers(killed, covered), call.name());
            assertFalse(covered.isEmpty(), "nothing was durable at " + call);
            assertTrue(covered.size() <= 24, covered.toString());
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runUntilKilled(folder, HookedDirectory.Call.APPEND, Order.COVER_THEN_INSERT);
        assertFalse(incompleteContainers(folder, new ArrayList<>()).isEmpty());
    }

    enum Order {
        INSERT_THEN_COVER,
        /** Wrong on purpose: covering is even made durable, so that the kill shows the fault. */
        COVER_THEN_INSERT
    }

    private static void runUntilKilled(Path index, HookedDirectory.Call call, Order order) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        index.toString(),
                        call.name(),
                        order.name())
                .inheritIO()
                .start();
        assertTrue(child.waitFor(60, TimeUnit.SECONDS));
        assertEquals(Child.KILLED, child.exitValue());
    }

    /** The covered containers with a fingerprint that is not found; also fills {@code covered}. */
    private static List<Long> incompleteContainers(Path folder, List<Long> covered) throws IOException {
        List<Long> incomplete = new ArrayList<>();
        try (SiloChunkIndex index = open(folder, FileDirectory.open(folder.resolve("blocks")))) {
            index.forEachCovered(covered::add);
            for (long container : covered) {
                Segment segment = TestSegments.of(container * SEGMENT, SEGMENT);
                index.lookup(segment);
                for (int slot = 0; slot < SEGMENT; slot++) {
                    if (segment.hint(slot) != ChunkId.of(container, slot)) {
                        incomplete.add(container);
                        break;
                    }
                }
            }
            assertEquals(0, index.numbers().lostBlocks());
        }
        return incomplete;
    }

    private static SiloChunkIndex open(Path folder, Directory files) throws IOException {
        return SiloChunkIndexTest.open(folder, files);
    }

    /** Fills containers and is killed at a step of writing a block. */
    static final class Child {
        static final int KILLED = 99;

        private Child() {}

        public static void main(String[] args) throws IOException {
            Path folder = Path.of(args[0]);
            HookedDirectory.Call killedAt = HookedDirectory.Call.valueOf(args[1]);
            boolean coverFirst = Order.valueOf(args[2]) == Order.COVER_THEN_INSERT;
            PrivateFiles.createFolders(folder.resolve("blocks"));
            HookedDirectory files = new HookedDirectory(FileDirectory.open(folder.resolve("blocks")));
            boolean[] begun = new boolean[1];
            files.hook = (call, name) -> {
                begun[0] |= name.contains(KILLED_BLOCK);
                if (begun[0] && call == killedAt) {
                    Runtime.getRuntime().halt(KILLED);
                }
            };
            SiloChunkIndex index = open(folder, files);
            for (int container = 1; container <= CONTAINERS; container++) {
                if (coverFirst) {
                    index.cover(container, new byte[500]);
                }
                Segment segment = TestSegments.of((long) container * SEGMENT, SEGMENT);
                for (int slot = 0; slot < SEGMENT; slot++) {
                    segment.setChunkId(slot, ChunkId.of(container, slot));
                    segment.setFresh(slot, true);
                }
                if (coverFirst || container == 10 || container == 18) {
                    // The records up to here are durable; those after the last one are lost.
                    index.flush();
                }
                index.insert(segment);
                if (!coverFirst) {
                    index.cover(container, new byte[500]);
                }
            }
        }
    }
}
