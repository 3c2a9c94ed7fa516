package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.HookedDirectory.Call;

/**
 * A disk that is full for some files, or at some steps, while several threads work: no thread waits for ever, and
 * nothing is lost.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ContainerShortageTest {
    private static final int RUNS = 300;
    private static final int CONTAINER_BYTES = 40_000;
    /** Each chunk of this size is a frame, and alone uses up the memory of frames in flight. */
    private static final int MAX_IN_FLIGHT = 8192;

    private final long seed = TestChunks.seed(ContainerShortageTest.class);
    private final Random random = new Random(seed);
    private final StoreFixture fixture = new StoreFixture();
    private final TestChunks chunks = new TestChunks();
    private final CrashDirectory disk = new CrashDirectory(seed);
    private final HookedDirectory hooked = new HookedDirectory(disk);
    private final ExecutorService others = Executors.newCachedThreadPool();

    ContainerShortageTest() {
        fixture.options = new ContainerOptions(
                new Compression(Compression.Codec.ZSTD, 1, 4096), CONTAINER_BYTES, 200, 3, MAX_IN_FLIGHT);
    }

    @AfterEach
    void endThreads() {
        fixture.close();
        others.shutdownNow();
    }

    private byte[] bytes(int count) {
        byte[] chunk = new byte[count];
        random.nextBytes(chunk);
        return chunk;
    }

    private static String open(long container) {
        return ContainerFormat.fileName(container, ContainerFormat.OPEN_SUFFIX);
    }

    private static NoSpaceException full() {
        return new NoSpaceException("No space left on device");
    }

    /** Two writers, each with its own container, 1 and 2, that has a durable chunk. */
    private List<ContainerWriter> begin(ContainerStore store) throws IOException {
        List<ContainerWriter> writers = List.of(store.writer(1), store.writer(2));
        for (ContainerWriter writer : writers) {
            chunks.append(writer, bytes(100));
        }
        store.force();
        return writers;
    }

    /** Makes both containers short: each has a frame that found no space. */
    private void fill(ContainerStore store, List<ContainerWriter> writers, Set<String> fullFiles) throws IOException {
        hooked.hook = (call, name) -> {
            if (call == Call.APPEND && fullFiles.contains(name)) {
                throw full();
            }
        };
        chunks.append(writers.get(1), bytes(200));
        chunks.append(writers.get(0), bytes(MAX_IN_FLIGHT));
        assertThrows(NoSpaceException.class, store::force);
    }

    @Test
    void aShortageLastsAsLongAsOneOfSeveralContainersIsShort() throws IOException {
        Set<String> fullFiles = ConcurrentHashMap.newKeySet();
        fullFiles.addAll(List.of(open(1), open(2)));
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            fill(store, writers, fullFiles);
            fullFiles.remove(open(2));
            assertThrows(NoSpaceException.class, store::force);

            // The second is no longer short. The first still uses up the memory, and no operation that would release it
            // is in progress.
            assertThrows(NoSpaceException.class, () -> chunks.append(writers.get(1), bytes(100)));
            chunks.assertAllReadable(store);

            fullFiles.clear();
            store.force();
            chunks.append(writers.get(1), bytes(MAX_IN_FLIGHT));
            chunks.append(writers.get(0), bytes(100));
            store.force();
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void theFailureOfAShortContainerDoesNotEndTheShortageOfAnother() throws IOException {
        Set<String> fullFiles = ConcurrentHashMap.newKeySet();
        fullFiles.addAll(List.of(open(1), open(2)));
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            fill(store, writers, fullFiles);
            hooked.hook = (call, name) -> {
                if (call == Call.APPEND && name.equals(open(1))) {
                    throw full();
                }
                if (call == Call.APPEND && name.equals(open(2))) {
                    throw new IOException("Input/output error");
                }
            };
            assertFalse(assertThrows(IOException.class, store::force) instanceof NoSpaceException);
            ContainerWriter fresh = store.writer(3);
            assertThrows(WriteFailedException.class, () -> chunks.append(fresh, bytes(100)));
            store.abandonLost();
            assertThrows(NoSpaceException.class, () -> chunks.append(fresh, bytes(100)));
        }
    }

    /** The container fails while its frame is being written; then the disk reports that it is full. */
    @Test
    void aContainerThatHasFailedIsNeverShort() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch failed = new CountDownLatch(1);
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            hooked.hook = (call, name) -> {
                if (call == Call.APPEND && name.equals(open(1))) {
                    writing.countDown();
                    awaitUninterruptibly(failed);
                    throw full();
                }
            };
            writers.get(0).append(bytes(5000), 0, 5000, new byte[32], 0);
            writing.await();
            fixture.workers.shutdown();
            // No worker takes its frame; that makes the container fail.
            writers.get(0).append(bytes(5000), 0, 5000, new byte[32], 0);
            failed.countDown();
            assertTrue(fixture.workers.awaitTermination(1, TimeUnit.MINUTES));

            chunks.append(writers.get(1), bytes(100));
            chunks.assertAllReadable(store);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Appends until the first container is full and must be sealed. */
    private void fillFirst(ContainerStore store) throws IOException {
        try (ContainerWriter writer = store.writer(1)) {
            while (ChunkId.container(chunks.append(writer, bytes(3000))) == 1) {}
        }
    }

    /** Makes one step of sealing the first container fail once. */
    private CountDownLatch failOnce(Call step, Supplier<IOException> failure) {
        CountDownLatch met = new CountDownLatch(1);
        hooked.hook = (call, name) -> {
            if (call == step && name.equals(open(1)) && met.getCount() > 0) {
                met.countDown();
                throw failure.get();
            }
        };
        return met;
    }

    /** The bytes are already on the disk: only the name is missing, and the file gets it when there is space. */
    @Test
    void aContainerThatFindsNoSpaceForItsNameIsSealedLater() throws Exception {
        try (ContainerStore store = fixture.open(hooked)) {
            CountDownLatch met = failOnce(Call.RENAME, ContainerShortageTest::full);
            fillFirst(store);
            met.await();
            awaitForced(store);
            chunks.assertAllReadable(store);
            try (ContainerStore crashed = fixture.openWithoutTables(disk.crash(1))) {
                chunks.assertAllReadable(crashed);
            }
            store.sealAll();
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(disk.crash(2))) {
            assertEquals(List.of(), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    private static void awaitForced(ContainerStore store) throws IOException {
        while (true) {
            try {
                store.force();
                return;
            } catch (NoSpaceException e) {
                Thread.onSpinWait();
            }
        }
    }

    /** Nothing is lost then that a force must report. */
    @Test
    void whatTheSealingHasForcedStaysWhenTheFileCannotBeClosed() throws Exception {
        checkStaysWhenItFailsAt(Call.CLOSE);
    }

    @Test
    void whatTheSealingHasForcedStaysWhenTheRenamingFails() throws Exception {
        checkStaysWhenItFailsAt(Call.RENAME);
    }

    private void checkStaysWhenItFailsAt(Call step) throws Exception {
        try (ContainerStore store = fixture.open(hooked)) {
            CountDownLatch met = failOnce(step, () -> new IOException("Input/output error"));
            fillFirst(store);
            met.await();
            store.force();
            chunks.assertAllReadable(store);
            try (ContainerStore crashed = fixture.openWithoutTables(disk.crash(1))) {
                chunks.assertAllReadable(crashed);
            }
        }
    }

    /**
     * The controls: bytes that were not forced, and a name that may not be on the disk, are lost, and are reported as
     * lost.
     */
    @Test
    void whatTheSealingCouldNotMakeDurableIsToldAsLost() throws Exception {
        for (Call step : List.of(Call.FORCE, Call.SYNC)) {
            CrashDirectory fresh = new CrashDirectory(seed);
            HookedDirectory failing = new HookedDirectory(fresh);
            AtomicInteger failures = new AtomicInteger();
            try (ContainerStore store = fixture.open(failing)) {
                CountDownLatch met = new CountDownLatch(1);
                failing.hook = (call, name) -> {
                    boolean sealing = Thread.currentThread().getName().equals("container-sealer");
                    if (call == step && sealing && met.getCount() > 0) {
                        failures.incrementAndGet();
                        met.countDown();
                        throw full();
                    }
                };
                fixture.lastId.set(0);
                fillFirst(store);
                met.await();
                assertFalse(assertThrows(IOException.class, store::force) instanceof NoSpaceException);
                assertFalse(assertThrows(IOException.class, store::sealAll) instanceof NoSpaceException);
            }
            assertEquals(1, failures.get());
            chunks.byId.clear();
        }
    }

    /** A failure after the sealing does not affect the sealed container. */
    @Test
    void anErrorBehindTheSealingLosesNothing() throws IOException {
        try (ContainerStore store = fixture.open(hooked, container -> null, (container, table) -> {
            throw new IllegalStateException("made by the test");
        })) {
            fillFirst(store);
            store.sealAll();
            store.force();
            chunks.assertAllReadable(store);
        }
    }

    /** Another thread finds that the shortage has ended while sealing fails for lack of space. */
    @Test
    void sealingAllNeverHangsAndLeavesNoneUnsealedWithoutSayingSo() throws Exception {
        for (int run = 0; run < RUNS; run++) {
            CrashDirectory fresh = new CrashDirectory(seed + run);
            HookedDirectory full = new HookedDirectory(fresh);
            TestChunks appended = new TestChunks();
            fixture.lastId.set(0);
            try (ContainerStore store = fixture.open(full)) {
                try (ContainerWriter writer = store.writer(1)) {
                    appended.append(writer, bytes(3000));
                }
                store.force();
                AtomicBoolean refusing = new AtomicBoolean(true);
                CountDownLatch met = new CountDownLatch(1);
                full.hook = (call, name) -> {
                    if (call == Call.APPEND && refusing.get()) {
                        met.countDown();
                        throw full();
                    }
                };
                Future<?> forcing = others.submit(() -> {
                    met.await();
                    awaitForced(store);
                    return null;
                });
                assertThrows(NoSpaceException.class, store::sealAll);
                forcing.get();
                refusing.set(false);
                sealAllAtLast(store);
                try (ContainerStore crashed = fixture.openWithoutTables(fresh.crash(1))) {
                    assertEquals(List.of(), crashed.recovered());
                    appended.assertAllReadable(crashed);
                }
            }
        }
    }

    /** The sealing thread may just have found the disk full again. */
    private static void sealAllAtLast(ContainerStore store) throws IOException {
        while (true) {
            try {
                store.sealAll();
                return;
            } catch (NoSpaceException e) {
                Thread.onSpinWait();
            }
        }
    }
}
