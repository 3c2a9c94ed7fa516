package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.CrashDirectory;

/** After a power cut at any point, everything forced is readable, and no read returns wrong bytes. */
@TestCiphers.PlainAndEncrypted
final class ContainerCrashTest extends StoreTest {
    private static final int RUNS = 12;
    private static final int CRASHES_PER_RUN = 12;

    /** Begins the message about a chunk that was forced and cannot be read. */
    private static final String LOST = "lost: ";

    @Test
    void everythingForcedIsReadableAfterAnyCrash() throws IOException {
        for (int run = 0; run < RUNS; run++) {
            crashOften(new CrashDirectory(seed + run), seed + run);
        }
    }

    @Test
    void withoutForceTheSameCheckFails() throws IOException {
        boolean failed = false;
        for (int run = 0; run < RUNS && !failed; run++) {
            try {
                crashOften(new CrashDirectory(seed + run, true), seed + run);
            } catch (IOException | AssertionError e) {
                failed = String.valueOf(e.getMessage()).startsWith(LOST);
            }
        }
        assertTrue(failed, "the check does not notice that force does nothing");
    }

    /** Appends, forces and seals at random, and checks simulated crashes in between. */
    private void crashOften(CrashDirectory disk, long runSeed) throws IOException {
        Random random = new Random(runSeed);
        TestChunks chunks = new TestChunks();
        Map<Long, byte[]> forced = new HashMap<>();
        try (ContainerStore store = fixture.open(disk)) {
            for (int crash = 0; crash < CRASHES_PER_RUN; crash++) {
                for (int i = random.nextInt(60); i > 0; i--) {
                    try (ContainerWriter writer = store.writer(random.nextInt(4))) {
                        chunks.append(writer, TestChunks.chunk(random, 3000));
                    }
                }
                switch (random.nextInt(6)) {
                    case 0 -> fixture.sealAll(store);
                    case 1, 2, 3 -> fixture.commit(store);
                    default -> {
                        check(fixture.crash(disk, crash), chunks.byId, forced, crash);
                        continue;
                    }
                }
                forced.putAll(chunks.byId);
                check(fixture.crash(disk, crash), chunks.byId, forced, crash);
            }
        }
    }

    private void check(CrashDirectory left, Map<Long, byte[]> appended, Map<Long, byte[]> forced, long crash)
            throws IOException {
        CrashDirectory leftAgain;
        try (ContainerStore store = fixture.openWithoutTables(left)) {
            assertReadable(store, forced);
            assertNothingWrong(store, appended);
            // Crashes before the recovered containers are committed: the next recovery has the same result.
            try (ContainerStore again = fixture.openWithoutTables(fixture.crash(left, crash))) {
                assertEquals(store.recovered(), again.recovered());
                assertReadable(again, forced);
            }
            fixture.commit(store);
            leftAgain = fixture.crash(left, crash);
        }
        // Crashes once more: the recovery must have been durable.
        try (ContainerStore store = fixture.openWithoutTables(leftAgain)) {
            assertEquals(0, store.recovered().size());
            assertReadable(store, forced);
        }
    }

    private static void assertReadable(ContainerStore store, Map<Long, byte[]> forced) {
        for (Map.Entry<Long, byte[]> each : forced.entrySet()) {
            String lost = LOST + ChunkId.toString(each.getKey());
            try {
                assertArrayEquals(each.getValue(), TestChunks.read(store, each.getKey()), lost);
            } catch (IOException e) {
                throw new AssertionError(lost, e);
            }
        }
    }

    private static void assertNothingWrong(ContainerStore store, Map<Long, byte[]> appended) throws IOException {
        List<Long> containers = new ArrayList<>();
        store.forEachContainer(containers::add);
        for (long container : containers) {
            SealedContainer sealed = store.directory(container);
            for (int slot = 0; slot < sealed.slots(); slot++) {
                if (sealed.length(slot) > 0) {
                    byte[] chunk = appended.get(ChunkId.of(container, slot));
                    int at = slot * Fingerprints.BYTES;
                    assertArrayEquals(
                            TestChunks.fingerprint(chunk),
                            Arrays.copyOfRange(sealed.fingerprints(), at, at + Fingerprints.BYTES));
                    assertArrayEquals(chunk, TestChunks.read(store, ChunkId.of(container, slot)));
                }
            }
        }
    }

    @Test
    void aDamagedFrameOfAnUnsealedContainerCostsNoOther() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        TestChunks chunks = new TestChunks();
        Random random = new Random(seed);
        ContainerStore store = fixture.open(disk);
        try (ContainerWriter writer = store.writer(1)) {
            for (int i = 0; i < 40; i++) {
                chunks.append(writer, TestChunks.chunk(random, 1000));
            }
        }
        fixture.commit(store);
        FrameTable table = store.frameTable(1);
        assertTrue(table.frames() > 3);
        store.close();
        byte[] file = fixture.contents(disk, 1);
        file[(int) table.fileOffset(1) + 20] ^= 1;
        file[3] ^= 1;
        fixture.replace(disk, 1, file);
        for (int slot = table.firstSlot(1); slot < table.firstSlot(2); slot++) {
            chunks.byId.remove(ChunkId.of(1, slot));
        }
        try (ContainerStore recovered = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), recovered.recovered());
            assertReadable(recovered, chunks.byId);
            assertEquals(0, recovered.directory(1).length(table.firstSlot(1)));
            assertEquals(-1, recovered.directory(1).frame(table.firstSlot(1)));
        }
    }
}
