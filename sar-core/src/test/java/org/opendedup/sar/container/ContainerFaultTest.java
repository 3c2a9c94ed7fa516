package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;

/** When the disk fails, the caller gets the error, and nothing acknowledged is lost. */
@TestCiphers.PlainAndEncrypted
final class ContainerFaultTest extends StoreTest {
    private static final int RUNS = 40;

    @Test
    void aFailedWriteIsReportedUntilTheLostChunksAreAbandoned() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 30);
            fixture.commit(store);
            Map<Long, byte[]> forced = new TreeMap<>(chunks.byId);
            ContainerWriter writer = store.writer(1);
            disk.failAppend(1);
            long lost = chunks.append(writer, TestChunks.chunk(random, 1000));
            assertThrows(IOException.class, () -> fixture.commit(store));
            assertThrows(IOException.class, () -> fixture.commit(store));
            assertThrows(IOException.class, () -> writer.append(new byte[1], 0, 1, new byte[32], 0));
            writer.close();
            assertTrue(store.isLost(lost));
            assertArrayEquals(chunks.byId.get(lost), TestChunks.read(store, lost), "it waits in memory");
            chunks.byId.keySet().removeIf(store::isLost);
            assertEquals(forced.keySet(), chunks.byId.keySet());
            chunks.assertAllReadable(store);

            store.abandonLost();
            assertThrows(IOException.class, () -> TestChunks.read(store, lost));
            appendSome(store, 1, 30);
            fixture.commit(store);
            assertTrue(store.isLost(lost));
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.open(fixture.crash(disk, 1))) {
            chunks.assertAllReadable(store);
        }
    }

    /** No thread waits for ever for a frame whose writing failed. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anErrorWhileAFrameIsWrittenIsAFailedWrite() throws IOException {
        HookedDirectory withoutMemory = new HookedDirectory(disk);
        try (ContainerStore store = fixture.open(withoutMemory)) {
            appendSome(store, 1, 30);
            fixture.commit(store);
            withoutMemory.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND) {
                    throw new InternalError("made by the test");
                }
            };
            // An append gets the error itself if it happens while a container is begun.
            Throwable failure = assertThrows(Throwable.class, () -> {
                appendSome(store, 1, 200);
                fixture.commit(store);
            });
            assertTrue(failure instanceof IOException || failure instanceof InternalError, failure::toString);
            withoutMemory.pass();
            settle(store);
            chunks.byId.keySet().removeIf(store::isLost);
            assertFalse(chunks.byId.isEmpty());
            store.abandonLost();
            appendSome(store, 2, 30);
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
    }

    /**
     * Data accepted before the disk became full is written when there is space, whenever and however often this is
     * retried.
     */
    @Test
    void whatADiskHadNoRoomForIsWrittenWhenThereIs() throws IOException {
        int refusals = 0;
        for (int run = 0; run < RUNS; run++) {
            CrashDirectory full = new CrashDirectory(seed + run);
            TestChunks appended = new TestChunks();
            try (ContainerStore store = fixture.open(full)) {
                for (int round = 0; round < 6; round++) {
                    StoreFixture.limit(full, random.nextInt(20_000));
                    try {
                        appendTo(store, random.nextInt(4), appended);
                        fixture.commit(store);
                    } catch (NoSpaceException expected) {
                        refusals++;
                    }
                    appended.assertAllReadable(store);
                }
                full.noSpaceAfter(Long.MAX_VALUE);
                fixture.commit(store);
                assertFalse(appended.byId.keySet().stream().anyMatch(store::isLost));
                try (ContainerStore crashed = fixture.openWithoutTables(fixture.crash(full, run))) {
                    appended.assertAllReadable(crashed);
                }
                fixture.sealAll(store);
                appended.assertAllReadable(store);
            }
            try (ContainerStore store = fixture.openWithoutTables(fixture.crash(full, 1))) {
                assertEquals(List.of(), store.recovered(), "a container was not sealed when there was space");
                appended.assertAllReadable(store);
            }
        }
        assertTrue(refusals > RUNS, "the disk is hardly ever full: " + refusals);
    }

    /** Otherwise a writer would wait for ever, because the memory of frames in flight would never be released. */
    @Test
    @Timeout(60)
    void aWriterThatMeetsAFullDiskIsRefusedAndNeverWaits() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            disk.noSpaceAfter(100);
            for (int stream = 0; stream < 20; stream++) {
                int wanted = stream;
                assertThrows(NoSpaceException.class, () -> {
                    for (int i = 0; i < 100; i++) {
                        appendSome(store, wanted, 100);
                    }
                });
            }
        }
    }

    /** Frames of a container in a pack whose append failed later are forced, or reported. */
    @Test
    void whatAFailedPackHadTakenBeforeIsForcedOrReported() throws IOException {
        for (int n = 1; n <= 12; n++) {
            CrashDirectory failing = new CrashDirectory(seed + n);
            TestChunks appended = new TestChunks();
            fixture.lastId.set(0);
            try (ContainerStore store = fixture.open(failing)) {
                failing.failAppend(n);
                try {
                    try (ContainerWriter writer = store.writer(1)) {
                        for (int i = 0; i < 120; i++) {
                            appended.append(writer, TestChunks.chunk(random, 1000));
                        }
                    }
                    fixture.sealAll(store);
                } catch (IOException reported) {
                    settle(store);
                    appended.byId.keySet().removeIf(store::isLost);
                    store.abandonLost();
                    fixture.commit(store);
                }
            }
            try (ContainerStore store = fixture.openWithoutTables(fixture.crash(failing, 1))) {
                appended.assertAllReadable(store);
            }
        }
    }

    /** Whatever fails at any time, an append or force that succeeded was really successful. */
    @Test
    void nothingAcknowledgedIsLostWhateverFails() throws IOException {
        int failures = 0;
        for (int run = 0; run < RUNS; run++) {
            CrashDirectory failing = new CrashDirectory(seed + run);
            TestChunks appended = new TestChunks();
            Map<Long, byte[]> forced = new TreeMap<>();
            try (ContainerStore store = fixture.open(failing)) {
                inject(failing, run);
                for (int round = 0; round < 10; round++) {
                    try {
                        for (int stream = 0; stream < 4; stream++) {
                            appendTo(store, stream, appended);
                        }
                        fixture.commit(store);
                        forced.putAll(appended.byId);
                    } catch (IOException reported) {
                        failures++;
                        settle(store);
                        appended.byId.keySet().removeIf(store::isLost);
                        assertTrue(appended.byId.keySet().containsAll(forced.keySet()), "a forced chunk is lost");
                        store.abandonLost();
                    }
                    appended.assertAllReadable(store);
                }
            }
            for (int crash = 0; crash < 3; crash++) {
                try (ContainerStore store = fixture.openWithoutTables(fixture.crash(failing, crash))) {
                    for (Map.Entry<Long, byte[]> each : forced.entrySet()) {
                        assertArrayEquals(
                                each.getValue(),
                                TestChunks.read(store, each.getKey()),
                                () -> ChunkId.toString(each.getKey()));
                    }
                }
            }
        }
        assertTrue(failures > RUNS / 4, "the faults hardly ever strike: " + failures);
    }

    /** After a force, the lost chunks are known. */
    private void settle(ContainerStore store) {
        try {
            fixture.commit(store);
        } catch (NoSpaceException full) {
            assertTrue(full.getMessage().contains("waits for space"), full.getMessage());
        } catch (IOException reportedAgain) {
            assertTrue(reportedAgain.getMessage().contains("lost"), reportedAgain.getMessage());
        }
    }

    private void inject(CrashDirectory failing, int run) {
        switch (run % 3) {
            case 0 -> failing.failAppend(1 + random.nextInt(30));
            case 1 -> failing.failForce(1 + random.nextInt(8));
            default -> failing.noSpaceAfter(random.nextInt(60_000));
        }
    }

    private void appendTo(ContainerStore store, long stream, TestChunks appended) throws IOException {
        try (ContainerWriter writer = store.writer(stream)) {
            for (int i = random.nextInt(20); i > 0; i--) {
                appended.append(writer, TestChunks.chunk(random, 1500));
            }
        }
    }
}
