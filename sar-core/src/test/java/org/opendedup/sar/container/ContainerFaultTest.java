package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.Output;

/** When the disk fails, the caller gets the error, and nothing acknowledged is lost. */
final class ContainerFaultTest {
    private static final int RUNS = 40;

    private final long seed = TestChunks.seed(ContainerFaultTest.class);
    private final Random random = new Random(seed);
    private final StoreFixture fixture = new StoreFixture();
    private final TestChunks chunks = new TestChunks();
    private final CrashDirectory disk = new CrashDirectory(seed);

    @AfterEach
    void endWorkers() {
        fixture.close();
    }

    private void appendSome(ContainerStore store, long stream, int count) throws IOException {
        try (ContainerWriter writer = store.writer(stream)) {
            for (int i = 0; i < count; i++) {
                chunks.append(writer, TestChunks.chunk(random, 1000));
            }
        }
    }

    @Test
    void aFailedWriteIsReportedUntilTheLostChunksAreAbandoned() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 30);
            store.force();
            Map<Long, byte[]> forced = new TreeMap<>(chunks.byId);
            ContainerWriter writer = store.writer(1);
            disk.failAppend(1);
            long lost = chunks.append(writer, TestChunks.chunk(random, 1000));
            assertThrows(IOException.class, store::force);
            assertThrows(IOException.class, store::force);
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
            store.force();
            assertTrue(store.isLost(lost));
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.open(disk.crash(1))) {
            chunks.assertAllReadable(store);
        }
    }

    /** No thread waits for ever for a frame whose writing failed. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anErrorWhileAFrameIsWrittenIsAFailedWrite() throws IOException {
        AtomicBoolean failing = new AtomicBoolean();
        Directory withoutMemory = (Directory) proxy(
                Directory.class,
                disk,
                (name, made) -> made instanceof Output
                        ? proxy(Output.class, made, (call, result) -> {
                            if (call.equals("append") && failing.get()) {
                                throw new InternalError("as told by the test");
                            }
                            return result;
                        })
                        : made);
        try (ContainerStore store = fixture.open(withoutMemory)) {
            appendSome(store, 1, 30);
            store.force();
            failing.set(true);
            // An append gets the error itself if it happens while a container is begun.
            Throwable failure = assertThrows(Throwable.class, () -> {
                appendSome(store, 1, 200);
                store.force();
            });
            assertTrue(failure instanceof IOException || failure instanceof InternalError, failure::toString);
            failing.set(false);
            settle(store);
            chunks.byId.keySet().removeIf(store::isLost);
            assertFalse(chunks.byId.isEmpty());
            store.abandonLost();
            appendSome(store, 2, 30);
            store.force();
            chunks.assertAllReadable(store);
        }
    }

    /** How a proxy changes the result of a call. */
    private interface Answer {
        Object of(String call, Object answer);
    }

    private static Object proxy(Class<?> type, Object target, Answer answer) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            try {
                return answer.of(method.getName(), method.invoke(target, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Test
    void afterAFailedForceOnlyWhatWasForcedBeforeIsKept() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 10);
            store.force();
            Map<Long, byte[]> forced = new TreeMap<>(chunks.byId);
            appendSome(store, 1, 10);
            disk.failForce(1);
            assertThrows(IOException.class, store::force);
            assertThrows(IOException.class, store::force);
            chunks.byId.keySet().removeIf(store::isLost);
            assertEquals(forced.keySet(), chunks.byId.keySet());
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aFullDiskIsNoSpaceAndLeavesTheRestReadable() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 30);
            store.force();
            disk.noSpaceAfter(10_000);
            assertThrows(NoSpaceException.class, () -> {
                appendSome(store, 2, 200);
                store.force();
            });
            assertFalse(chunks.byId.keySet().stream().anyMatch(store::isLost));
            chunks.assertAllReadable(store);
            disk.noSpaceAfter(Long.MAX_VALUE);
            store.force();
            appendSome(store, 3, 30);
            store.force();
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.open(disk.crash(1))) {
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
                    full.noSpaceAfter(random.nextInt(20_000));
                    try {
                        appendTo(store, random.nextInt(4), appended);
                        store.force();
                    } catch (NoSpaceException expected) {
                        refusals++;
                    }
                    appended.assertAllReadable(store);
                }
                full.noSpaceAfter(Long.MAX_VALUE);
                store.force();
                assertFalse(appended.byId.keySet().stream().anyMatch(store::isLost));
                try (ContainerStore crashed = fixture.openWithoutTables(full.crash(run))) {
                    appended.assertAllReadable(crashed);
                }
                store.sealAll();
                appended.assertAllReadable(store);
            }
            try (ContainerStore store = fixture.openWithoutTables(full.crash(1))) {
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

    /**
     * A frame that is being written at the moment when the directory cannot be synced is neither lost nor mistaken for
     * another one, and is in the rewritten file.
     */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aFrameThatIsBeingWrittenWhenTheDirectoryCannotBeSyncedIsKept() throws IOException {
        HookedDirectory hooked = new HookedDirectory(disk);
        Semaphore begun = new Semaphore(0);
        Semaphore released = new Semaphore(0);
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 10);
            store.force();
            Thread forcing = Thread.currentThread();
            AtomicBoolean syncFails = new AtomicBoolean(true);
            AtomicBoolean appendWaits = new AtomicBoolean();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.SYNC && syncFails.getAndSet(false)) {
                    appendWaits.set(true);
                    appendSome(store, 1, 30); // more than a frame, which a worker writes
                    begun.acquireUninterruptibly();
                    throw new IOException("as told by the test");
                }
                if (call == HookedDirectory.Call.APPEND
                        && Thread.currentThread() != forcing
                        && appendWaits.getAndSet(false)) {
                    begun.release();
                    released.acquireUninterruptibly();
                }
            };
            assertThrows(IOException.class, store::force);
            released.release();
            assertThrows(IOException.class, store::force); // which waits for the worker
            chunks.assertAllReadable(store);
            store.revive();
            store.force();
            assertFalse(chunks.byId.keySet().stream().anyMatch(store::isLost));
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(disk.crash(1))) {
            chunks.assertAllReadable(store);
        }
    }

    /** While a container is sealed, another thread finds that its name may not be durable: it is not sealed then. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aContainerWhoseFolderCannotBeSyncedWhileItIsSealedIsRewritten() throws IOException, InterruptedException {
        HookedDirectory hooked = new HookedDirectory(disk);
        Semaphore renaming = new Semaphore(0);
        Semaphore released = new Semaphore(0);
        Semaphore renamed = new Semaphore(0);
        try (ContainerStore store = fixture.open(hooked)) {
            AtomicBoolean syncFails = new AtomicBoolean(true);
            AtomicBoolean renameWaits = new AtomicBoolean(true);
            Thread forcing = Thread.currentThread();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.SYNC && Thread.currentThread() != forcing) {
                    renamed.release();
                }
                if (call == HookedDirectory.Call.SYNC && syncFails.getAndSet(false)) {
                    appendSome(store, 1, 250); // more than a container, which is sealed then
                    renaming.acquireUninterruptibly();
                    throw new IOException("as told by the test");
                }
                if (call == HookedDirectory.Call.RENAME && renameWaits.getAndSet(false)) {
                    renaming.release();
                    released.acquireUninterruptibly();
                }
            };
            appendSome(store, 1, 10);
            assertThrows(IOException.class, store::force);
            released.release();
            renamed.acquire();
            Thread.sleep(200); // the sealing ends
            store.revive();
            store.force();
            // Of a failure that no container has any more, nobody would wait until a slow disk has room.
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND) {
                    Uninterruptibles.sleepUninterruptibly(10, TimeUnit.MILLISECONDS);
                }
            };
            appendSome(store, 2, 300);
            store.sealAll();
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(disk.crash(1))) {
            chunks.assertAllReadable(store);
        }
    }

    /** A chunk that no worker takes while the file is rewritten is lost. The rewriting must not hide that. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aChunkThatIsLostWhileTheFileIsRewrittenIsReported() throws IOException {
        HookedDirectory hooked = new HookedDirectory(disk);
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 10);
            store.force();
            ContainerWriter writer = store.writer(1);
            AtomicLong late = new AtomicLong();
            AtomicBoolean read = new AtomicBoolean();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.SYNC && late.get() == 0) {
                    late.set(writer.append(new byte[500], 0, 500, new byte[32], 0));
                    throw new IOException("as told by the test");
                }
                if (call == HookedDirectory.Call.APPEND && late.get() > 0 && !read.getAndSet(true)) {
                    fixture.workers.shutdown();
                    // Ends the frame that is being filled.
                    Thread reader = new Thread(() -> assertDoesNotThrow(() -> TestChunks.read(store, late.get())));
                    reader.start();
                    Uninterruptibles.joinUninterruptibly(reader);
                }
            };
            appendSome(store, 2, 1);
            assertThrows(IOException.class, store::force);
            assertThrows(CorruptionException.class, store::revive, "retrying does not help");
            assertTrue(read.get());
            assertTrue(store.isLost(late.get()));
            assertThrows(IOException.class, store::force);
            chunks.byId.keySet().removeIf(store::isLost);
            chunks.assertAllReadable(store);
            writer.close();
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
                        store.force();
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
                try (ContainerStore store = fixture.openWithoutTables(failing.crash(crash))) {
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
    private static void settle(ContainerStore store) {
        try {
            store.force();
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

    @Test
    void aContainerThatCannotBeSealedStaysReadableAndIsSealedByRecovery() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 20);
            store.force();
            disk.noSpaceAfter(10);
            assertThrows(NoSpaceException.class, store::sealAll);
            chunks.assertAllReadable(store);
            store.force();
            assertFalse(chunks.byId.keySet().stream().anyMatch(store::isLost));
        }
        try (ContainerStore store = fixture.open(disk.crash(1))) {
            assertEquals(1, store.recovered().size());
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void recoveryThatFailsHalfwayIsDoneAgainFromTheStart() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 40);
            store.force();
        }
        CrashDirectory left = disk.crash(1);
        left.noSpaceAfter(5000);
        assertThrows(NoSpaceException.class, () -> fixture.open(left));
        left.noSpaceAfter(Long.MAX_VALUE);
        try (ContainerStore store = fixture.open(left.crash(2))) {
            assertEquals(1, store.recovered().size());
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void workersThatRefuseToWorkFailTheContainer() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            fixture.workers.shutdown();
            // More than one frame: a small last frame needs no worker.
            assertThrows(IOException.class, () -> {
                appendSome(store, 1, 40);
                store.force();
            });
        }
    }
}
