package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectSource;

/** Packs that another machine wrote are read through the cache of this one. */
final class StoreReadsTest {
    private static final int BLOCK = BlockCache.BLOCK_BYTES;
    private static final int PACK_BYTES = 9 * BLOCK + 1234;
    private static final int PACKS = 12;

    @MemoryFolder
    Path folder;

    private final AtomicLong clock = new AtomicLong();
    private final List<byte[]> packs = new ArrayList<>();
    private HookedObjectStore store;
    private RemoteDirectory directory;

    @BeforeEach
    void open() throws IOException {
        store = new HookedObjectStore(FolderObjectStore.open(Files.createDirectories(folder.resolve("store"))));
        for (int pack = 0; pack < PACKS; pack++) {
            byte[] bytes = new byte[PACK_BYTES];
            new Random(pack).nextBytes(bytes);
            packs.add(bytes);
            store.put(PackNames.pack(name(pack)), ObjectSource.of(bytes));
        }
        open(64 << 20);
    }

    private static String name(int pack) {
        return PackFormat.fileName(1000 + pack);
    }

    private void open(long cacheBytes) throws IOException {
        Path local = Files.createDirectories(folder.resolve("local"));
        RemoteDirectory.Bounds bounds = new RemoteDirectory.Bounds(cacheBytes, 8 << 20);
        directory = RemoteDirectory.open(FileDirectory.open(local), store, bounds, clock::get, "test");
    }

    @AfterEach
    void close() throws IOException {
        directory.close();
    }

    private static byte[] read(Input input, int offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        input.readFully(offset, ByteBuffer.wrap(bytes));
        return bytes;
    }

    private void checkRead(Input input, int pack, int offset, int length) throws IOException {
        assertArrayEquals(Arrays.copyOfRange(packs.get(pack), offset, offset + length), read(input, offset, length));
    }

    private void checkRead(int pack, int offset, int length) throws IOException {
        try (Input input = directory.open(name(pack))) {
            checkRead(input, pack, offset, length);
        }
    }

    @Test
    void whatWasReadStaysAlsoForTheNextMount() throws IOException {
        checkRead(0, 5, 100);
        checkRead(0, BLOCK - 100, 100);
        assertEquals(1, store.reads.get(), "one block");
        checkRead(0, BLOCK - 100, 200);
        assertEquals(2, store.reads.get());
        checkRead(1, 10, PACK_BYTES - 10);
        assertEquals(3, store.reads.get(), "one range of ten blocks");
        directory.close();
        open(64 << 20);
        checkRead(0, BLOCK - 100, 200);
        checkRead(1, 0, PACK_BYTES);
        assertEquals(3, store.reads.get());
        assertFalse(directory.list().stream().anyMatch(name -> name.startsWith("cache")), "its files are no packs");
    }

    @Test
    void whatRequestsCostIsLearnedFromThoseThatAreMade() throws Exception {
        directory.close();
        open(0);
        assertFalse(directory.requestCost().orElseThrow().isMeasured());
        assertEquals("assumed", directory.statistics().rangeSource());
        long latency = TimeUnit.MILLISECONDS.toNanos(30);
        for (int read = 0; read < 5 * PACKS; read++) {
            int blocks = read % 2 == 0 ? 1 : 8;
            store.beforeRead = () -> {
                clock.addAndGet(latency + blocks * BLOCK * 20L); // 50 MB/s
                return null;
            };
            checkRead(read % PACKS, blocks == 1 ? 0 : BLOCK, blocks * BLOCK);
        }
        RequestCost cost = directory.requestCost().orElseThrow();
        assertEquals(latency, cost.latencyNanos(), latency / 100.0);
        assertEquals(50e6, cost.laneBytesPerSecond(), 1e6);
        assertEquals("measured", directory.statistics().rangeSource());
        // A reader through a directory that changes nothing learns it, too, and asks at once.
        Directory readOnly = new ReadOnlyDirectory(directory);
        assertEquals(directory.requestCost(), readOnly.requestCost());
        assertTrue(readOnly.answersAtOnce());
        assertTrue(readOnly.isCopy(name(0)));
    }

    @Test
    void expectedRangesAreReadAtTheSameTime() throws Exception {
        CountDownLatch together = new CountDownLatch(4);
        store.beforeRead = () -> {
            together.countDown();
            assertTrue(together.await(30, TimeUnit.SECONDS), "the others have not begun");
            return null;
        };
        List<Input> inputs = new ArrayList<>();
        for (int pack = 0; pack < 4; pack++) {
            Input input = directory.open(name(pack));
            inputs.add(input);
            input.expect(0, BLOCK);
        }
        for (int pack = 0; pack < 4; pack++) {
            checkRead(inputs.get(pack), pack, 100, BLOCK - 100);
            inputs.get(pack).close();
        }
        assertEquals(4, store.reads.get());
    }

    @Test
    void whatIsExpectedAndNotReadTakesBoundedMemoryAndGoes() throws IOException {
        directory.close();
        open(0);
        for (int pack = 0; pack < PACKS; pack++) {
            try (Input input = directory.open(name(pack))) {
                input.expect(0, PACK_BYTES);
            }
        }
        // Of 6 MiB: two packs.
        TestWait.until(() -> store.reads.get() == 2);
        TestWait.until(() -> {
            // Again and again, since the age of a read counts from its end, and those two have only begun.
            clock.addAndGet(TimeUnit.SECONDS.toNanos(11));
            try (Input input = directory.open(name(7))) {
                input.expect(0, PACK_BYTES);
            }
            return store.reads.get() == 3;
        });
        checkRead(7, 0, PACK_BYTES);
        assertEquals(3, store.reads.get());
    }

    /** Ranges of a few blocks have buffers of more: these count, not the blocks. */
    @Test
    void buffersOfShortRangesCountWhole() throws IOException {
        directory.close();
        open(0);
        for (int pack = 0; pack < PACKS; pack++) {
            try (Input input = directory.open(name(pack))) {
                input.expect(0, 3 * BLOCK);
            }
        }
        checkRead(11, 0, 10);
        // Of 6 MiB: two buffers of 2.5 MiB, and what is waited for.
        TestWait.until(() -> store.reads.get() == 3);
        checkRead(0, 0, 3 * BLOCK);
        checkRead(1, 0, 3 * BLOCK);
        assertEquals(3, store.reads.get());
    }

    /** The disk of the cache takes nothing for a while. Reads go on, and what they have read does not pile up. */
    @Test
    void readersThatAreFasterThanTheCacheTakeBoundedMemory() throws IOException {
        directory.close();
        AtomicBoolean isHanging = new AtomicBoolean(true);
        HookedDirectory slow = new HookedDirectory(FileDirectory.open(folder.resolve("local")));
        slow.hook = (call, name) -> {
            if (call == HookedDirectory.Call.APPEND) {
                TestWait.until(() -> !isHanging.get());
            }
        };
        directory =
                RemoteDirectory.open(slow, store, new RemoteDirectory.Bounds(64 << 20, 8 << 20), clock::get, "test");
        try {
            for (int pack = 0; pack < PACKS; pack++) {
                checkRead(pack, 0, PACK_BYTES);
            }
            assertEquals(PACKS, store.reads.get());
            for (int pack = 0; pack < PACKS; pack++) {
                checkRead(pack, 0, PACK_BYTES);
            }
            // Of 6 MiB: two packs wait for the cache in memory, and the others are not there any more.
            assertEquals(2 * PACKS - 2, store.reads.get());
        } finally {
            isHanging.set(false);
        }
    }

    /** Other programs fill the disk. What was read before makes room, and nothing is added until there is space. */
    @Test
    void theCacheLeavesSpaceToOthers() throws IOException {
        directory.close();
        HookedDirectory local = new HookedDirectory(FileDirectory.open(folder.resolve("local")));
        directory =
                RemoteDirectory.open(local, store, new RemoteDirectory.Bounds(64 << 20, 8 << 20), clock::get, "test");
        Path cached = Files.createDirectories(folder.resolve("local").resolve("cache"));
        // Of four blocks each: two segments are complete, one is not.
        checkRead(0, 0, PACK_BYTES);
        TestWait.until(() -> bytesIn(cached) >= 10 * BLOCK);
        local.takenBytes = Long.MAX_VALUE;
        checkRead(1, 0, PACK_BYTES);
        TestWait.until(() -> bytesIn(cached) <= 2 * BLOCK);
        checkRead(2, 0, PACK_BYTES);
        local.takenBytes = 0;
        checkRead(3, 0, PACK_BYTES);
        TestWait.until(() -> bytesIn(cached) >= 10 * BLOCK);
        checkRead(1, 0, PACK_BYTES);
    }

    private static long bytesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    /** A reader finds that what was read is wrong, while that waits for the cache, or is being written there. */
    @Test
    void whatIsForgottenBeforeItIsCachedDoesNotGetIntoTheCache() throws IOException {
        AtomicBoolean isHanging = new AtomicBoolean(true);
        Path other = Files.createDirectories(folder.resolve("other"));
        HookedDirectory slow = new HookedDirectory(FileDirectory.open(other));
        slow.hook = (call, name) -> {
            if (call == HookedDirectory.Call.APPEND) {
                TestWait.until(() -> !isHanging.get());
            }
        };
        BlockCache cache = BlockCache.open(slow, 64 << 20, 1 << 20, () -> {});
        try (StoreReads reads = new StoreReads(store, cache, 6 << 20, clock::get, "test")) {
            for (int pack = 0; pack < 3; pack++) {
                reads.readFully(name(pack), pack, 0, ByteBuffer.allocate(10));
            }
            assertTrue(reads.forget(0, 0, 10), "it is being written");
            assertTrue(reads.forget(1, 0, 10), "it waits");
            isHanging.set(false);
        }
        assertFalse(cache.has(BlockCache.key(0, 0)));
        assertFalse(cache.has(BlockCache.key(1, 0)));
        assertTrue(cache.has(BlockCache.key(2, 0)), "the control");
    }

    /** The machine has no thread left. Nobody waits for ever for a range that no thread reads. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatNoThreadCanReadInTheBackgroundIsReadByWhoExpectsIt() throws IOException {
        ThreadFactory none = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        Path other = Files.createDirectories(folder.resolve("other"));
        BlockCache cache = BlockCache.open(FileDirectory.open(other), 64 << 20, 1 << 20, () -> {});
        try (StoreReads reads = new StoreReads(store, cache, 6 << 20, clock::get, none, none)) {
            for (int pack = 0; pack < PACKS; pack++) {
                reads.expect(name(pack), pack, 0, PACK_BYTES);
                ByteBuffer read = ByteBuffer.allocate(PACK_BYTES);
                reads.readFully(name(pack), pack, 0, read);
                assertArrayEquals(packs.get(pack), read.array());
            }
            assertEquals(PACKS, store.reads.get());
        }
    }

    @Test
    void aReadAfterAFailureAsksTheStoreAgain() throws IOException {
        try (Input input = directory.open(name(3))) {
            store.beforeRead = () -> {
                throw new IOException("no answer");
            };
            input.expect(0, BLOCK);
            TestWait.until(() -> store.reads.get() == 1);
            assertThrows(IOException.class, () -> read(input, 0, 10));
            store.beforeRead = null;
            checkRead(input, 3, 0, 10);
        }
    }

    @Test
    void damageOfACopyIsNotDamageOfThePack() throws IOException {
        checkRead(2, 0, 10);
        directory.close();
        open(64 << 20);
        try (Stream<Path> all = Files.list(folder.resolve("local").resolve("cache"))) {
            for (Path each : all.toList()) {
                byte[] bytes = Files.readAllBytes(each);
                bytes[5] ^= 1;
                Files.write(each, bytes);
            }
        }
        try (Input input = directory.open(name(2))) {
            assertFalse(Arrays.equals(Arrays.copyOf(packs.get(2), 10), read(input, 0, 10)), "the control");
            assertTrue(input.forgetCopies(0, 10));
            checkRead(input, 2, 0, 10);
        }
    }

    /** Many threads read in a cache that has room for a third of the packs. */
    @Test
    void readersAtTheSameTimeGetTheRightBytes() throws Exception {
        directory.close();
        open(16 << 20);
        long seed = TestSeed.next();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Void>> readers = new ArrayList<>();
            for (int reader = 0; reader < 4; reader++) {
                Random random = new Random(seed + reader);
                readers.add(() -> {
                    for (int round = 0; round < 150; round++) {
                        int pack = random.nextInt(PACKS);
                        int offset = random.nextInt(PACK_BYTES);
                        int most = random.nextInt(4) == 0 ? PACK_BYTES : 10_000;
                        int length = 1 + random.nextInt(Math.min(most, PACK_BYTES - offset));
                        try (Input input = directory.open(name(pack))) {
                            if (random.nextInt(3) == 0) {
                                input.expect(offset, length);
                            }
                            checkRead(input, pack, offset, length);
                            if (random.nextInt(20) == 0) {
                                input.forgetCopies(offset, length);
                            }
                        }
                    }
                    return null;
                });
            }
            for (Future<Void> each : threads.invokeAll(readers)) {
                each.get();
            }
        } finally {
            threads.shutdown();
        }
    }
}
