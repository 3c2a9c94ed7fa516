package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.HookedDirectory.Call;

/**
 * A disk that is full for some files, or at some steps, while several threads work: no thread waits for ever, and
 * nothing is lost.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestCiphers.PlainAndEncrypted
final class ContainerShortageTest extends StoreTest {
    private static final int RUNS = 300;
    private static final int CONTAINER_BYTES = 40_000;
    /** Each chunk of this size is a frame, and alone uses up the memory of frames in flight. */
    private static final int MAX_IN_FLIGHT = 8192;

    private final HookedDirectory hooked = new HookedDirectory(disk);

    @AutoClose("shutdownNow")
    private final ExecutorService others = Executors.newCachedThreadPool();

    ContainerShortageTest() {
        fixture.options = new ContainerOptions(
                new Compression(Compression.Codec.ZSTD, 1, 4096),
                CONTAINER_BYTES,
                200,
                3,
                MAX_IN_FLIGHT,
                ContainerCipher.NONE);
        fixture.shareTable(disk, hooked);
    }

    private byte[] bytes(int count) {
        byte[] chunk = new byte[count];
        random.nextBytes(chunk);
        return chunk;
    }

    /** Returns the name of the pack that the first container of a stream, 1 or 2, begins. */
    private static String pack(int stream) {
        return PackFormat.fileName(1023 + stream);
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
        fixture.commit(store);
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
        assertThrows(NoSpaceException.class, () -> fixture.commit(store));
    }

    /** Has the packs that both writers began refuse bytes, and says that other places have room. */
    private void fillPlace() {
        hooked.inFullPlaces.addAll(List.of(pack(1), pack(2)));
        hooked.hook = (call, name) -> {
            if (call == Call.APPEND && hooked.inFullPlaces.contains(name)) {
                throw full();
            }
        };
    }

    /** Others may fill a place between two looks at its space. No writer has to know. */
    @Test
    void packsOfAFullPlaceGoOnInAnotherOne() throws IOException {
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            chunks.append(writers.get(0), bytes(100)); // is in the frame being filled, which goes along
            fillPlace();
            for (int count = 0; count < 40; count++) {
                chunks.append(writers.get(count % 2), bytes(MAX_IN_FLIGHT / 2));
            }
            chunks.assertAllReadable(store);
            fixture.commit(store);
            try (ContainerStore crashed = fixture.open(fixture.crash(disk, seed))) {
                chunks.assertAllReadable(crashed);
            }
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
        try (ContainerStore crashed = fixture.openWithoutTables(fixture.crash(disk, seed))) {
            assertEquals(List.of(), crashed.recovered());
            chunks.assertAllReadable(crashed);
        }
    }

    /** The commit is the first that finds the place full: it does not wait for space. */
    @Test
    void aCommitGoesOnInAnotherPlace() throws IOException {
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            chunks.append(writers.get(0), bytes(100));
            chunks.append(writers.get(1), bytes(200));
            fillPlace();
            fixture.commit(store);
            try (ContainerStore crashed = fixture.openWithoutTables(fixture.crash(disk, seed))) {
                chunks.assertAllReadable(crashed);
            }
            chunks.append(writers.get(0), bytes(300));
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
    }

    /** While no place has room, a pack waits where it is. */
    @Test
    void packsWaitIfTheOtherPlaceIsFullToo() throws IOException {
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            fillPlace();
            hooked.hook = (call, name) -> {
                if (call == Call.APPEND) {
                    throw full();
                }
            };
            chunks.append(writers.get(0), bytes(200));
            assertThrows(NoSpaceException.class, () -> fixture.commit(store));
            assertThrows(NoSpaceException.class, () -> chunks.append(writers.get(0), bytes(100)));
            chunks.assertAllReadable(store);
            fillPlace();
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aShortageLastsAsLongAsOneOfSeveralContainersIsShort() throws IOException {
        Set<String> fullFiles = ConcurrentHashMap.newKeySet();
        fullFiles.addAll(List.of(pack(1), pack(2)));
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            fill(store, writers, fullFiles);
            fullFiles.remove(pack(2));
            assertThrows(NoSpaceException.class, () -> fixture.commit(store));

            // The second is no longer short. The first still uses up the memory, and no operation that would release it
            // is in progress.
            assertThrows(NoSpaceException.class, () -> chunks.append(writers.get(1), bytes(100)));
            chunks.assertAllReadable(store);

            fullFiles.clear();
            fixture.commit(store);
            chunks.append(writers.get(1), bytes(MAX_IN_FLIGHT));
            chunks.append(writers.get(0), bytes(100));
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void theFailureOfAShortContainerDoesNotEndTheShortageOfAnother() throws IOException {
        Set<String> fullFiles = ConcurrentHashMap.newKeySet();
        fullFiles.addAll(List.of(pack(1), pack(2)));
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            fill(store, writers, fullFiles);
            hooked.hook = (call, name) -> {
                if (call == Call.APPEND && name.equals(pack(1))) {
                    throw full();
                }
                if (call == Call.APPEND && name.equals(pack(2))) {
                    throw new IOException("Input/output error");
                }
            };
            assertFalse(assertThrows(IOException.class, () -> fixture.commit(store)) instanceof NoSpaceException);
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
                if (call == Call.APPEND && name.equals(pack(1))) {
                    writing.countDown();
                    Uninterruptibles.awaitUninterruptibly(failed);
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

    /** Appends until the first container is full and must be sealed. */
    private void fillFirst(ContainerStore store) throws IOException {
        try (ContainerWriter writer = store.writer(1)) {
            while (ChunkId.container(chunks.append(writer, bytes(3000))) == 1) {}
        }
    }

    /** All frames are on the disk already: only directory and footer are missing, and follow when there is space. */
    @Test
    void aContainerThatFindsNoSpaceForItsDirectoryIsCompletedLater() throws IOException {
        try (ContainerStore store = fixture.open(hooked)) {
            begin(store);
            hooked.hook = (call, name) -> {
                if (call == Call.APPEND && name.equals(pack(1))) {
                    throw full();
                }
            };
            assertThrows(NoSpaceException.class, () -> fixture.sealAll(store));
            chunks.assertAllReadable(store);
            hooked.pass();
            fixture.commit(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(fixture.crash(disk, 2))) {
            assertEquals(List.of(), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    /**
     * Nobody writes the frames of the second container of a pack while the first waits: nobody waits for them either.
     */
    @Test
    void aContainerThatFollowsOneWithoutSpaceWaitsToo() throws IOException {
        try (ContainerStore store = fixture.open(hooked)) {
            List<ContainerWriter> writers = begin(store);
            hooked.fail(Call.APPEND, full());
            store.endAll();
            assertThrows(NoSpaceException.class, () -> chunks.append(writers.get(0), bytes(100)));
            assertThrows(NoSpaceException.class, () -> fixture.commit(store));
            assertThrows(NoSpaceException.class, () -> chunks.append(writers.get(0), bytes(100)));
            hooked.pass();
            fixture.commit(store);
            chunks.append(writers.get(0), bytes(100));
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
    }

    /** Bytes that were not forced, and a name that may not be on the disk, are reported as lost, not as waiting. */
    @Test
    void aFullDiskThatIsFoundByAForceIsReportedAsALoss() throws IOException {
        for (Call step : List.of(Call.FORCE, Call.SYNC)) {
            CrashDirectory fresh = new CrashDirectory(seed);
            HookedDirectory failing = new HookedDirectory(fresh);
            AtomicInteger failures = new AtomicInteger();
            fixture.lastId.set(0);
            try (ContainerStore store = fixture.open(failing)) {
                failing.hook = (call, name) -> {
                    if (call == step && failures.getAndIncrement() == 0) {
                        throw full();
                    }
                };
                fillFirst(store);
                assertFalse(assertThrows(IOException.class, () -> fixture.commit(store)) instanceof NoSpaceException);
                assertFalse(assertThrows(IOException.class, () -> fixture.sealAll(store)) instanceof NoSpaceException);
                store.revive();
                fixture.commit(store);
                chunks.assertAllReadable(store);
            }
            assertTrue(failures.get() > 0);
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
            fixture.sealAll(store);
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
    }

    /** Another thread finds that the shortage has ended while sealing fails for lack of space. */
    @Test
    void sealingAllNeverHangsAndLeavesNoneUnsealedWithoutSayingSo() throws Exception {
        for (int run = 0; run < RUNS; run++) {
            CrashDirectory fresh = new CrashDirectory(seed + run);
            HookedDirectory full = new HookedDirectory(fresh);
            fixture.shareTable(fresh, full);
            TestChunks appended = new TestChunks();
            fixture.lastId.set(0);
            try (ContainerStore store = fixture.open(full)) {
                try (ContainerWriter writer = store.writer(1)) {
                    appended.append(writer, bytes(3000));
                }
                fixture.commit(store);
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
                    untilThereIsRoom(() -> fixture.commit(store));
                    return null;
                });
                assertThrows(NoSpaceException.class, () -> fixture.sealAll(store));
                refusing.set(false);
                forcing.get();
                // The sealing thread may just have found the disk full again.
                untilThereIsRoom(() -> fixture.sealAll(store));
                try (ContainerStore crashed = fixture.openWithoutTables(fixture.crash(fresh, 1))) {
                    assertEquals(List.of(), crashed.recovered());
                    appended.assertAllReadable(crashed);
                }
            }
        }
    }

    private interface Attempt {
        void make() throws IOException;
    }

    private static void untilThereIsRoom(Attempt attempt) throws IOException {
        while (true) {
            try {
                attempt.make();
                return;
            } catch (NoSpaceException e) {
                Thread.onSpinWait();
            }
        }
    }
}
