package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.StorePrices;

final class RemoteDirectoryTest {
    private static final String PACK = PackFormat.fileName(7);
    private static final String LATER = PackFormat.fileName(70_000);

    @TempDir
    private Path folder;

    private final AtomicLong clock = new AtomicLong();
    private HookedObjectStore store;
    private RemoteDirectory directory;

    @BeforeEach
    void open() throws IOException {
        Files.createDirectories(folder.resolve("store"));
        store = new HookedObjectStore(FolderObjectStore.open(folder.resolve("store")));
        directory = open("staging", 1 << 30);
    }

    @AfterEach
    void close() throws IOException {
        directory.close();
    }

    private RemoteDirectory open(String staging, long cacheBytes) throws IOException {
        Path local = Files.createDirectories(folder.resolve(staging));
        return RemoteDirectory.open(
                FileDirectory.open(local), store, new RemoteDirectory.Bounds(cacheBytes, 8 << 20), clock::get, "test");
    }

    private static byte[] bytes(int count, long seed) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(RemoteDirectory from, String name) throws IOException {
        try (Input input = from.open(name)) {
            byte[] bytes = new byte[(int) input.length()];
            input.readFully(0, ByteBuffer.wrap(bytes));
            return bytes;
        }
    }

    private void write(String name, byte[] bytes) throws IOException {
        try (Output output = directory.create(name)) {
            output.append(ByteBuffer.wrap(bytes));
            output.force();
        }
    }

    /** As a disk that is brought back from a copy: the store has more of the pack that was being written. */
    @Test
    void anEarlierStateOfTheFolderDoesNotReplaceWhatTheStoreHas() throws IOException {
        byte[] bytes = bytes(5000, 1);
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes, 0, 2000));
            output.force();
            directory.await(directory.mark());
            Path copy = folder.resolve("copy").resolve(PACK);
            Files.createDirectories(copy.getParent());
            Files.copy(folder.resolve("staging").resolve(PACK), copy);
            output.append(ByteBuffer.wrap(bytes, 2000, 3000));
            output.force();
            directory.await(directory.mark());
            try (RemoteDirectory earlier = open("copy", 1 << 30)) {
                TestWait.until(() -> earlier.missingBytes() == 0);
                assertArrayEquals(bytes, read(earlier, PACK));
            }
        }
        awaitStored();
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    private void awaitStored() {
        TestWait.until(() -> directory.missingBytes() == 0);
    }

    /** After a crash the disk has other bytes than those that were durable there. Tails have the right ones. */
    @Test
    void aPackThatIsDamagedAfterACrashIsMendedByItsTails() throws IOException {
        byte[] bytes = bytes(9000, 1);
        try (Output output = directory.create(PACK)) {
            for (int part = 0; part < 3; part++) {
                output.append(ByteBuffer.wrap(bytes, part * 3000, 3000));
                output.force();
                if (part < 2) {
                    directory.await(directory.mark());
                }
            }
            directory.close();
        }
        byte[] damaged = bytes.clone();
        damaged[4000] ^= 1;
        Files.write(folder.resolve("staging").resolve(PACK), damaged);
        directory = open("staging", 1 << 30);
        awaitStored();
        assertArrayEquals(bytes, read(directory, PACK));
        assertArrayEquals(bytes, Files.readAllBytes(folder.resolve("staging").resolve(PACK)));
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    /** The folder has the whole pack, so the opening succeeds and puts it. */
    @Test
    void aPackWhoseFirstTailIsLostIsPutFromTheFolder() throws IOException {
        byte[] bytes = bytes(2000, 1);
        try (Output output = directory.create(PACK)) {
            for (int part = 0; part < 2; part++) {
                output.append(ByteBuffer.wrap(bytes, part * 1000, 1000));
                output.force();
                directory.await(directory.mark());
            }
            directory.close();
        }
        store.delete(List.of(PackNames.tail(PACK, 0)));
        assertEquals(1, store.listAll(PackNames.TAILS, "").size());
        directory = open("staging", 1 << 30);
        awaitStored();
        TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    @Test
    void aCompletePackFollowsIntoTheStore() throws IOException {
        byte[] bytes = bytes(100_000, 1);
        write(PACK, bytes);
        awaitStored();
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
            assertEquals(List.of(PACK), elsewhere.list());
            assertEquals(100_000, elsewhere.length(PACK));
            try (Input input = elsewhere.open(PACK)) {
                ByteBuffer part = ByteBuffer.allocate(10);
                input.readFully(99_990, part);
                assertThrows(EOFException.class, () -> input.readFully(99_991, part.clear()));
            }
        }
    }

    @Test
    void newPacksAreBegunWhileTheStoreDoesNotAnswer() throws IOException {
        write(name(5), bytes(1000, 1));
        awaitStored();
        directory.close();
        directory = open("staging", 1 << 30);
        write(name(7), bytes(1000, 2));
        store.isSilent = true;
        write(name(9), bytes(1000, 3));
        write(name(8), bytes(1000, 5));
        assertThrows(UnavailableException.class, () -> write(name(4), bytes(1000, 4)), "it may be there");
        store.isSilent = false;
        assertThrows(FileAlreadyExistsException.class, () -> write(name(5), bytes(1000, 4)));
        assertThrows(FileAlreadyExistsException.class, () -> write(name(9), bytes(1000, 4)));
        write(name(4), bytes(1000, 4));
        awaitStored();
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes(1000, 3), read(elsewhere, name(9)));
        }
    }

    private static String name(long pack) {
        return PackFormat.fileName(pack);
    }

    @Test
    void packsThatTheStoreHasStayInTheFolderUpToItsBound() throws IOException {
        directory.close();
        directory = open("staging", 150_000);
        write(PACK, bytes(100_000, 1));
        awaitStored();
        assertArrayEquals(bytes(100_000, 1), read(directory, PACK));
        assertEquals(0, store.reads.get(), "it is read in the folder");
        write(LATER, bytes(100_000, 2));
        awaitStored();
        TestWait.until(() -> !Files.exists(folder.resolve("staging").resolve(PACK)));
        assertArrayEquals(bytes(100_000, 1), read(directory, PACK));
        assertArrayEquals(bytes(100_000, 2), read(directory, LATER));
        assertEquals(1, store.reads.get(), "one of them is read from the store");
        assertEquals(List.of(PACK, LATER), directory.list());
        assertEquals(List.of(LATER), directory.listFrom(PackFormat.fileName(8)));
    }

    /**
     * The disk takes nothing for the cache, of which something has to go, and what was read again has to be copied.
     * Packs are put all the same.
     */
    @Test
    void packsArePutWhileTheCacheMakesRoom() throws IOException {
        directory.close();
        for (int pack = 1; pack <= 2; pack++) {
            store.put(PackNames.pack(name(pack)), ObjectSource.of(bytes(1000, pack)));
        }
        Path cached = Files.createDirectories(folder.resolve("staging").resolve("cache"));
        AtomicBoolean isHanging = new AtomicBoolean();
        HookedDirectory slow = new HookedDirectory(FileDirectory.open(folder.resolve("staging")));
        slow.hook = (call, name) -> {
            while (call == HookedDirectory.Call.APPEND && name.startsWith("cache/") && isHanging.get()) {
                LockSupport.parkNanos(1_000_000);
            }
        };
        directory =
                RemoteDirectory.open(slow, store, new RemoteDirectory.Bounds(16 << 20, 8 << 20), clock::get, "test");
        try {
            // A segment has one block. This one is complete, and was made before the packs were used.
            assertArrayEquals(bytes(1000, 1), read(directory, name(1)));
            TestWait.until(() -> lengths(cached).stream().anyMatch(length -> length > BlockCache.BLOCK_BYTES));
            assertArrayEquals(bytes(1000, 1), read(directory, name(1)));
            isHanging.set(true);
            assertArrayEquals(bytes(1000, 2), read(directory, name(2)));
            TestWait.until(() -> lengths(cached).size() == 2);
            for (int pack = 10; pack < 22; pack++) {
                write(name(pack), bytes(4 << 20, pack));
            }
            awaitStored();
        } finally {
            isHanging.set(false);
        }
    }

    private static List<Long> lengths(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.toFile().length()).toList();
        }
    }

    @Test
    void aReaderKeepsAPackThatLeavesTheFolder() throws IOException {
        directory.close();
        directory = open("staging", 0);
        store.failure = new IOException("no");
        write(PACK, bytes(100_000, 1));
        try (Input input = directory.open(PACK)) {
            store.failure = null;
            awaitStored();
            TestWait.until(() -> !Files.exists(folder.resolve("staging").resolve(PACK)));
            byte[] read = new byte[100_000];
            input.readFully(0, ByteBuffer.wrap(read));
            assertArrayEquals(bytes(100_000, 1), read);
        }
    }

    /** An open file would keep the space that the disk needs. */
    @Test
    void aPackThatLeavesTheFolderWhileItIsOpenedKeepsNoSpaceThere() throws IOException {
        directory.close();
        HookedDirectory local = new HookedDirectory(FileDirectory.open(folder.resolve("staging")));
        directory =
                RemoteDirectory.open(local, store, new RemoteDirectory.Bounds(150_000, 8 << 20), clock::get, "test");
        write(PACK, bytes(100_000, 1));
        awaitStored();
        local.openedHook = name -> {
            local.openedHook = other -> {};
            try {
                write(LATER, bytes(100_000, 2));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            TestWait.until(() -> !Files.exists(folder.resolve("staging").resolve(PACK)));
        };
        try (Input input = directory.open(PACK)) {
            assertEquals(List.of(), openDeletedFiles());
            byte[] read = new byte[100_000];
            input.readFully(0, ByteBuffer.wrap(read));
            assertArrayEquals(bytes(100_000, 1), read);
        }
    }

    private List<String> openDeletedFiles() throws IOException {
        List<String> deleted = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files) {
                try {
                    String target = Files.readSymbolicLink(file).toString();
                    if (target.startsWith(folder.toString()) && target.endsWith("(deleted)")) {
                        deleted.add(target);
                    }
                } catch (NoSuchFileException closed) {
                    // Another thread, or this stream.
                }
            }
        }
        return deleted;
    }

    @Test
    void aMarkHasTheDurableBytesOfAPackThatIsBeingWritten() throws IOException {
        byte[] bytes = bytes(90_000, 3);
        try (Output output = directory.create(PACK)) {
            for (int part = 0; part < 3; part++) {
                output.append(ByteBuffer.wrap(bytes, part * 30_000, 20_000));
                output.force();
                output.append(ByteBuffer.wrap(bytes, part * 30_000 + 20_000, 10_000));
                directory.await(directory.mark());
                try (RemoteDirectory elsewhere = open("elsewhere" + part, 1 << 30)) {
                    byte[] durable = new byte[part * 30_000 + 20_000];
                    System.arraycopy(bytes, 0, durable, 0, durable.length);
                    assertArrayEquals(durable, read(elsewhere, PACK));
                    assertEquals(List.of(PACK), elsewhere.list());
                }
            }
        }
        awaitStored();
        try (RemoteDirectory elsewhere = open("last", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
        TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
    }

    /** A tail whose answer was lost is in the store, and is not what a later try would put: the pack has grown. */
    /** As tools of a store make them that show folders. */
    @Test
    void strangeNamesInTheStoreAreNoTails() throws IOException {
        byte[] bytes = bytes(1000, 1);
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes));
            output.force();
            directory.await(directory.mark());
            for (String strange : List.of("tails/0", PackNames.tails(PACK) + "0", "readers/0")) {
                store.put(strange, ObjectSource.of(new byte[1]));
            }
            try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
                assertEquals(List.of(PACK), elsewhere.list());
                assertArrayEquals(bytes, read(elsewhere, PACK));
            }
        }
        awaitStored();
    }

    @Test
    void aTailWithoutAnAnswerDoesNotStopThoseThatFollow() throws IOException {
        byte[] bytes = bytes(3000, 4);
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes, 0, 1000));
            output.force();
            store.afterPut = () -> {
                throw new UnavailableException("no answer");
            };
            assertThrows(UnavailableException.class, () -> directory.await(directory.mark()));
            store.afterPut = null;
            output.append(ByteBuffer.wrap(bytes, 1000, 2000));
            output.force();
            directory.await(directory.mark());
            try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
                assertArrayEquals(bytes, read(elsewhere, PACK));
            }
        }
        awaitStored();
        TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
    }

    /** The answer of the only tail was lost: no byte counts as put, and yet there is a tail. */
    @Test
    void aTailWithoutAnAnswerGoesWithTheWholePack() throws IOException {
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes(1000, 4)));
            output.force();
            store.afterPut = () -> {
                throw new UnavailableException("no answer");
            };
            assertThrows(UnavailableException.class, () -> directory.await(directory.mark()));
            store.afterPut = null;
            assertEquals(1, store.listAll(PackNames.TAILS, "").size());
        }
        awaitStored();
        TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
    }

    /** A machine elsewhere asks for a pack; between its two questions the whole pack takes the place of the tails. */
    @Test
    void aPackIsFoundWhileItTakesThePlaceOfItsTails() throws IOException {
        byte[] bytes = bytes(3000, 5);
        Output output = directory.create(PACK);
        output.append(ByteBuffer.wrap(bytes));
        output.force();
        directory.await(directory.mark());
        store.beforeList = () -> {
            store.beforeList = null;
            output.close();
            TestWait.until(() -> directory.missingBytes() == 0);
            TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
            return null;
        };
        StoredPack found = StoredPack.find(store, PACK);
        assertEquals(3000, found.length());
        assertTrue(found.isComplete());
    }

    /** The same while a machine elsewhere lists the packs. */
    @Test
    void aPackIsListedWhileItTakesThePlaceOfItsTails() throws IOException {
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            Output output = directory.create(PACK);
            output.append(ByteBuffer.wrap(bytes(3000, 5)));
            output.force();
            directory.await(directory.mark());
            store.beforeList = () -> {
                store.beforeList = () -> {
                    store.beforeList = null;
                    output.close();
                    TestWait.until(() -> directory.missingBytes() == 0);
                    TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
                    return null;
                };
                return null;
            };
            assertEquals(List.of(PACK), elsewhere.list());
        }
    }

    /** The list of a gateway lags behind what was put. */
    @Test
    void aTailThatAListLacksIsFoundByItsName() throws IOException {
        byte[] bytes = bytes(3000, 5);
        try (Output output = directory.create(PACK)) {
            for (int part = 0; part < 3; part++) {
                output.append(ByteBuffer.wrap(bytes, part * 1000, 1000));
                output.force();
                directory.await(directory.mark());
            }
            for (int part = 0; part < 3; part++) {
                store.unlisted = PackNames.tail(PACK, part * 1000)::equals;
                StoredPack found = StoredPack.find(store, PACK);
                assertEquals(3000, found.length(), "without tail " + part);
                ByteBuffer read = ByteBuffer.allocate(3000);
                found.read(store, 0, read);
                assertArrayEquals(bytes, read.array());
            }
            store.unlisted = name -> false;
        }
        awaitStored();
    }

    /**
     * Metadata in the store name the tails of a pack, and a reader has them. While the whole pack is put, the owner
     * deletes it.
     */
    @Test
    void aPackThatIsDeletedWhileItIsPutStaysForAReaderOfItsTails() throws Exception {
        byte[] bytes = bytes(3000, 6);
        Output output = directory.create(PACK);
        output.append(ByteBuffer.wrap(bytes));
        output.force();
        long named = directory.mark();
        directory.await(named);
        directory.shipped(named);
        ReaderRegistration reader = ReaderRegistration.register(store, new ReaderNames.Parts("of-reader", 0, false));
        CountDownLatch isPut = new CountDownLatch(1);
        CountDownLatch isDeleted = new CountDownLatch(1);
        store.beforePut = () -> {
            isPut.countDown();
            assertTrue(isDeleted.await(30, TimeUnit.SECONDS));
            return null;
        };
        output.close();
        assertTrue(isPut.await(30, TimeUnit.SECONDS));
        directory.mark();
        directory.delete(PACK);
        directory.shipped(directory.mark());
        directory.deleteDue();
        store.beforePut = null;
        isDeleted.countDown();
        TestWait.until(() -> store.listAll(PackNames.TAILS, "").isEmpty());
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
        reader.close();
        directory.deleteDue();
        assertEquals(List.of(), store.listAll(PackNames.PACKS, ""));
    }

    /** As above, and another machine takes the volume before the put ends: who reads the tails is its matter now. */
    @Test
    void aFormerOwnerDeletesNothingWhenAPutEnds() throws Exception {
        byte[] bytes = bytes(3000, 6);
        Output output = directory.create(PACK);
        output.append(ByteBuffer.wrap(bytes));
        output.force();
        long named = directory.mark();
        directory.await(named);
        directory.shipped(named);
        CountDownLatch isPut = new CountDownLatch(1);
        CountDownLatch isTaken = new CountDownLatch(1);
        store.beforePut = () -> {
            isPut.countDown();
            assertTrue(isTaken.await(30, TimeUnit.SECONDS));
            return null;
        };
        output.close();
        assertTrue(isPut.await(30, TimeUnit.SECONDS));
        directory.mark();
        directory.delete(PACK);
        directory.shipped(directory.mark());
        directory.stop();
        store.beforePut = null;
        isTaken.countDown();
        directory.close();
        directory = open("staging", 1 << 30);
        assertTrue(isInStore(PACK));
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    /** The disk fails within an append; what it has of that must not keep from the store what was forced before. */
    @Test
    void aPackWhoseLastAppendFailedIsPutAsItIs() throws IOException {
        directory.close();
        Path local = Files.createDirectories(folder.resolve("failing"));
        HookedDirectory failing = new HookedDirectory(FileDirectory.open(local));
        directory =
                RemoteDirectory.open(failing, store, new RemoteDirectory.Bounds(1 << 30, 8 << 20), clock::get, "test");
        byte[] bytes = bytes(1000, 8);
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes));
            output.force();
            failing.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND) {
                    Files.write(local.resolve(name), bytes(50, 9), StandardOpenOption.APPEND);
                    throw new IOException("Input/output error");
                }
            };
            assertThrows(IOException.class, () -> output.append(ByteBuffer.wrap(bytes)));
            failing.pass();
        }
        directory.await(directory.mark());
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30);
                Input input = elsewhere.open(PACK)) {
            byte[] read = new byte[1000];
            input.readFully(0, ByteBuffer.wrap(read));
            assertArrayEquals(bytes, read);
        }
    }

    /** The first try is refused, so that a commit that needs these bytes fails; what is written later gets there. */
    @Test
    void aPackThatIsDamagedBeforeItIsPutKeepsNothingElseFromTheStore() throws IOException {
        store.failure = new IOException("not now");
        write(PACK, bytes(1000, 1));
        long mark = directory.mark();
        byte[] damaged = bytes(1000, 1);
        damaged[500] ^= 1;
        Files.write(folder.resolve("staging").resolve(PACK), damaged);
        TestWait.until(() -> directory.failure() != null);
        store.failure = null;
        write(LATER, bytes(1000, 2));
        awaitStored();
        directory.await(mark);
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(damaged, read(elsewhere, PACK), "what the disk has of it");
            assertArrayEquals(bytes(1000, 2), read(elsewhere, LATER));
        }
    }

    /** A line on which four packs at the same time take longer than a put may. */
    @Test
    void fewerPacksArePutAtTheSameTimeAfterPutsWithoutAnAnswer() throws IOException {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger failures = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        store.beforePut = () -> {
            int together = running.incrementAndGet();
            Thread.sleep(20);
            running.decrementAndGet();
            if (failures.incrementAndGet() > 12) {
                most.accumulateAndGet(together, Math::max);
            }
            throw new UnavailableException("too slow");
        };
        for (int pack = 1; pack <= 8; pack++) {
            write(name(pack), bytes(1000, pack));
        }
        TestWait.until(() -> failures.get() >= 24);
        assertEquals(1, most.get());
        store.beforePut = null;
        awaitStored();
    }

    /** On such a line the first tries have no answer in time, also those of an unmount. */
    @Test
    void aCloseWaitsUntilFewEnoughPacksArePutAtTheSameTime() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        store.beforePut = () -> {
            if (tries.incrementAndGet() < 4) {
                throw new UnavailableException("too slow");
            }
            return null;
        };
        write(PACK, bytes(1000, 1));
        directory.close();
        assertEquals(1000, store.status(PackNames.pack(PACK)).length());
    }

    /** However many packs wait: a put takes minutes on a line that is too slow for any. */
    @Test
    void aCloseGivesUpAfterAFewPutsThatFail() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        store.beforePut = () -> {
            tries.incrementAndGet();
            Thread.sleep(100);
            throw new UnavailableException("too slow");
        };
        for (int pack = 1; pack <= 20; pack++) {
            write(name(pack), bytes(1000, pack));
        }
        long mark = directory.mark();
        // From then on, one is put at a time.
        TestWait.until(() -> tries.get() >= 20);
        tries.set(0);
        // As an unmount does it, which then tries to put the metadata.
        assertFalse(directory.drain());
        IOException missing = assertThrows(IOException.class, () -> directory.await(mark));
        assertTrue(missing.getMessage().contains("too slow"), missing::getMessage);
        directory.close();
        assertTrue(tries.get() < 20, tries::toString);
    }

    @Test
    void aCloseWaitsForOtherPacksThanTheOneThatFails() throws Exception {
        CountDownLatch slow = new CountDownLatch(1);
        AtomicInteger failed = new AtomicInteger();
        store.refused = name -> name.equals(PackNames.pack(PACK)) && failed.incrementAndGet() > 0;
        store.beforePut = () -> {
            slow.await();
            return null;
        };
        write(PACK, bytes(1000, 1));
        write(name(2), bytes(1000, 2));
        FutureTask<Boolean> drain = new FutureTask<>(directory::drain);
        new Thread(drain).start();
        TestWait.until(() -> failed.get() > Uploads.LANES + 1);
        assertThrows(TimeoutException.class, () -> drain.get(1, TimeUnit.SECONDS));
        store.refused = name -> false;
        slow.countDown();
        assertTrue(drain.get());
    }

    /** The store may be away for hours, and many packs wait for it: a try does not read them from the disk. */
    @Test
    void aPackIsNotReadWhileTheStoreDoesNotAnswer() throws IOException {
        directory.close();
        AtomicInteger reads = new AtomicInteger();
        HookedDirectory local = new HookedDirectory(FileDirectory.open(folder.resolve("staging")));
        local.readHook = (name, offset, end) -> {
            if (name.equals(PACK) && end > 0) {
                reads.incrementAndGet();
            }
        };
        directory =
                RemoteDirectory.open(local, store, new RemoteDirectory.Bounds(1 << 30, 8 << 20), clock::get, "test");
        store.failure = new UnavailableException("no answer");
        write(PACK, bytes(1000, 1));
        long mark = directory.mark();
        for (int tries = 0; tries < 2; tries++) {
            assertThrows(IOException.class, () -> directory.await(mark));
        }
        assertEquals(0, reads.get());
        directory.close();
        directory =
                RemoteDirectory.open(local, store, new RemoteDirectory.Bounds(1 << 30, 8 << 20), clock::get, "test");
        for (int tries = 0; tries < 3; tries++) {
            assertThrows(IOException.class, () -> directory.await(directory.mark()));
        }
        assertEquals(1, reads.get(), "an opening does not know its checksum");
        store.failure = null;
        awaitStored();
        assertTrue(reads.get() > 1, "the control");
    }

    /** Somebody removes the file. It is waited for, and then nothing else waits; the next opening finds it again. */
    @Test
    void aPackThatIsRemovedBeforeItIsPutKeepsNothingElseFromTheStore() throws IOException {
        AtomicInteger lost = new AtomicInteger();
        directory.whenLost(lost::incrementAndGet);
        byte[] bytes = bytes(9000, 1);
        Path local = folder.resolve("staging").resolve(PACK);
        store.failure = new IOException("not now");
        write(PACK, bytes);
        Files.move(local, folder.resolve("away"));
        store.failure = null;
        long mark = directory.mark();
        assertThrows(IOException.class, () -> directory.await(mark), "control: it may come back");
        clock.addAndGet(StagedPack.PATIENCE_NS);
        write(LATER, bytes(1000, 2));
        awaitStored();
        directory.await(mark);
        assertEquals(1, lost.get());
        assertFalse(directory.exists(PACK));
        assertThrows(NoSuchFileException.class, () -> directory.open(PACK));
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes(1000, 2), read(elsewhere, LATER));
        }
        directory.close();
        Files.move(folder.resolve("away"), local);
        directory = open("staging", 1 << 30);
        awaitStored();
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    /** What tails have of it is kept, and nothing is written to a file that nobody finds. */
    @Test
    void aPackThatIsRemovedWhileItIsWrittenTakesNoMore() throws IOException {
        byte[] bytes = bytes(2000, 1);
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes, 0, 1000));
            output.force();
            directory.await(directory.mark());
            output.append(ByteBuffer.wrap(bytes, 1000, 1000));
            output.force();
            Files.delete(folder.resolve("staging").resolve(PACK));
            long mark = directory.mark();
            assertThrows(NoSuchFileException.class, () -> directory.await(mark));
            clock.addAndGet(StagedPack.PATIENCE_NS);
            directory.await(mark);
            assertThrows(IOException.class, () -> output.append(ByteBuffer.wrap(bytes)));
        }
        assertArrayEquals(Arrays.copyOf(bytes, 1000), read(directory, PACK));
    }

    /** A block of the disk that has it cannot be read. */
    @Test
    void aPackOfWhichABlockCannotBeReadIsPutWithoutThat() throws IOException {
        directory.close();
        HookedDirectory failing = new HookedDirectory(FileDirectory.open(folder.resolve("staging")));
        failing.readHook = (name, offset, end) -> {
            if (name.equals(PACK) && offset < 5000 && end > 4999) {
                throw new IOException("Input/output error");
            }
        };
        directory =
                RemoteDirectory.open(failing, store, new RemoteDirectory.Bounds(1 << 30, 8 << 20), clock::get, "test");
        byte[] bytes = bytes(300_000, 1);
        write(PACK, bytes);
        long mark = directory.mark();
        assertThrows(IOException.class, () -> directory.await(mark), "control: the disk may read it later");
        clock.addAndGet(StagedPack.PATIENCE_NS);
        awaitStored();
        directory.await(mark);
        Arrays.fill(bytes, 4096, 8192, (byte) 0);
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes, read(elsewhere, PACK));
        }
    }

    /** An error of the program in a put is a failure like another: nobody waits for ever. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anUnexpectedErrorInAPutIsAFailure() throws IOException {
        store.beforePut = () -> {
            throw new IllegalStateException("a defect");
        };
        write(PACK, bytes(1000, 1));
        long mark = directory.mark();
        IOException refused = assertThrows(IOException.class, () -> directory.await(mark));
        assertTrue(refused.getMessage().contains("a defect"), refused.getMessage());
        store.beforePut = null;
        directory.await(mark);
    }

    @Test
    void aMarkIsRefusedWhileTheStoreDoesNotTakeWhatItNeeds() throws IOException {
        store.failure = new IOException("the store is gone");
        write(PACK, bytes(1000, 1));
        long mark = directory.mark();
        TestWait.until(() -> directory.failure() != null);
        IOException refused = assertThrows(IOException.class, () -> directory.await(mark));
        assertTrue(refused.getMessage().endsWith("the store is gone"), refused.getMessage());
        try (Output output = directory.create(LATER)) {
            output.append(ByteBuffer.wrap(bytes(1000, 2)));
            long before = directory.mark();
            output.force();
            long after = directory.mark();
            assertThrows(IOException.class, () -> directory.await(after));
            store.failure = null;
            awaitStored(PACK);
            directory.await(before);
            assertEquals(1000, directory.missingBytes(), "nothing of the later one was durable at that mark");
            directory.await(after);
            assertEquals(0, directory.missingBytes());
        }
    }

    /** A store that is slow, and a program that syncs a few bytes again and again, which are in no pack. */
    @Test
    void commitsWhilePacksWaitForTheStoreTakeNoMemoryForThem() throws IOException {
        store.failure = new IOException("not now");
        for (int pack = 1; pack <= 10; pack++) {
            write(name(pack), bytes(1000, pack));
        }
        for (int commit = 0; commit < 1000; commit++) {
            directory.mark();
        }
        assertEquals(10, directory.markedPacks());
        long last = directory.mark();
        assertThrows(IOException.class, () -> directory.await(last), "it needs what the first one needs");
        store.failure = null;
        awaitStored();
        directory.await(last);
        for (int pack = 1; pack <= 10; pack++) {
            assertTrue(isInStore(name(pack)));
        }
        directory.shipped(last);
        assertEquals(0, directory.markedPacks());
    }

    private void awaitStored(String name) {
        TestWait.until(() -> {
            try {
                return store.status(PackNames.pack(name)).length() > 0;
            } catch (NoSuchFileException e) {
                return false;
            }
        });
    }

    @Test
    void aDeletedPackStaysUntilNothingNamesIt() throws IOException {
        write(PACK, bytes(1000, 1));
        awaitStored();
        long before = directory.mark();
        long ofTheCommit = directory.mark();
        directory.delete(PACK);
        assertFalse(directory.exists(PACK));
        assertEquals(List.of(), directory.list());
        assertThrows(NoSuchFileException.class, () -> directory.open(PACK));
        assertThrows(NoSuchFileException.class, () -> directory.delete(PACK));
        directory.deleteDue();
        assertTrue(isInStore(PACK), "the metadata in the store may name it");
        directory.shipped(before);
        directory.deleteDue();
        assertTrue(isInStore(PACK), "the metadata in the store may be older than the deletion");
        directory.shipped(ofTheCommit);
        directory.deleteDue();
        assertFalse(isInStore(PACK));
        assertEquals(0, directory.statistics().deletedPacks());
    }

    /** A former owner put it after the present one had deleted the pack. */
    @Test
    void tailsWithoutTheFirstOneAreDeletedAsAPack() throws IOException {
        store.put(PackNames.tail(PACK, 4096), ObjectSource.of(new byte[500]));
        assertEquals(List.of(PACK), directory.list());
        assertThrows(NoSuchFileException.class, () -> directory.open(PACK));
        assertEquals(500, directory.allocatedBytes(PACK));
        long mark = directory.mark();
        directory.delete(PACK);
        directory.shipped(mark);
        directory.deleteDue();
        assertEquals(List.of(), store.listAll(PackNames.TAILS, ""));
        assertEquals(List.of(), directory.list());
        assertThrows(NoSuchFileException.class, () -> directory.allocatedBytes(PACK));
        assertThrows(NoSuchFileException.class, () -> directory.delete(PACK));
    }

    /** Writes a pack and deletes it, so that nothing in the store names it. */
    private void writeAndDelete(String name) throws IOException {
        write(name, bytes(1000, 1));
        awaitStored();
        long mark = directory.mark();
        directory.delete(name);
        directory.shipped(mark);
    }

    @Test
    void aDeletedPackStaysForTheReadersThatWereThereBefore() throws IOException {
        ReaderRegistration first = ReaderRegistration.register(store);
        assertTrue(directory.areMetadataCopied());
        first.metadataAreCopied();
        assertFalse(directory.areMetadataCopied());
        writeAndDelete(PACK);
        directory.deleteDue();
        assertTrue(isInStore(PACK), "a reader may need it");
        assertEquals(1, directory.statistics().readers());
        ReaderRegistration later = ReaderRegistration.register(store);
        first.renew();
        directory.deleteDue();
        assertTrue(isInStore(PACK), "the first reader is there");
        first.close();
        directory.deleteDue();
        assertFalse(isInStore(PACK), "the later one never saw metadata that name it");
        writeAndDelete(LATER);
        directory.deleteDue();
        clock.addAndGet(Readers.LIFE.toNanos() - 1);
        directory.deleteDue();
        assertTrue(isInStore(LATER));
        clock.addAndGet(1);
        directory.deleteDue();
        assertTrue(isInStore(LATER), "it may have been renewed at this moment");
        directory.deleteDue();
        assertFalse(isInStore(LATER), "the reader is dead");
        later.renew();
        assertTrue(later.isLost());
        assertEquals(List.of(), store.listAll(ReaderNames.ALL, ""));
    }

    @Test
    void whoPutsMetadataDoesNotWaitForDeletions() throws IOException {
        writeAndDelete(PACK);
        directory.startDeletions(() -> {
            // The question whether this is the owner waits until a segment is put, and so for shipped().
            Thread ships = new Thread(() -> {
                directory.shipped(directory.mark());
                directory.stop();
            });
            ships.start();
            TestWait.until(() -> !ships.isAlive());
        });
        directory.deleteDue();
        assertFalse(isInStore(PACK));
    }

    @Test
    void aFormerOwnerDeletesNothing() throws IOException {
        writeAndDelete(PACK);
        directory.startDeletions(() -> {
            throw new IOException("another owner");
        });
        assertThrows(IOException.class, () -> directory.deleteDue());
        assertTrue(isInStore(PACK));
    }

    @Test
    void aPackThatTheFolderHasNotIsNotMadeAgain() throws IOException {
        directory.close();
        directory = open("staging", 0);
        write(PACK, bytes(1000, 1));
        awaitStored();
        TestWait.until(() -> !Files.exists(folder.resolve("staging").resolve(PACK)));
        assertThrows(FileAlreadyExistsException.class, () -> directory.create(PACK));
        directory.delete(PACK);
        assertThrows(FileAlreadyExistsException.class, () -> directory.create(PACK));
    }

    private boolean isInStore(String name) throws IOException {
        try {
            return store.status(PackNames.pack(name)).length() >= 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Test
    void aPackThatIsDeletedIsPutForACommitBefore() throws IOException {
        store.failure = new IOException("not now");
        write(PACK, bytes(1000, 1));
        long before = directory.mark();
        directory.delete(PACK);
        long after = directory.mark();
        directory.await(after);
        store.failure = null;
        awaitStored(PACK);
        directory.await(before);
        assertTrue(isInStore(PACK));
    }

    @Test
    void aPackThatNoCommitNeedsIsNotPut() throws IOException {
        store.failure = new IOException("not now");
        write(PACK, bytes(1000, 1));
        TestWait.until(() -> directory.failure() != null);
        directory.delete(PACK);
        directory.shipped(directory.mark());
        store.failure = null;
        assertEquals(0, directory.missingBytes());
        write(LATER, bytes(1000, 2));
        awaitStored(LATER);
        assertFalse(Files.exists(folder.resolve("staging").resolve(PACK)));
    }

    @Test
    void whatAnEndLeftIsPutAfterTheNextOpening() throws IOException {
        store.failure = new IOException("not now");
        write(PACK, bytes(1000, 1));
        try (Output open = directory.create(LATER)) {
            open.append(ByteBuffer.wrap(bytes(500, 2)));
            directory.close();
        }
        store.failure = null;
        directory = open("staging", 1 << 30);
        awaitStored();
        try (RemoteDirectory elsewhere = open("elsewhere", 1 << 30)) {
            assertArrayEquals(bytes(1000, 1), read(elsewhere, PACK));
            assertArrayEquals(bytes(500, 2), read(elsewhere, LATER));
        }
    }

    @Test
    void anObjectThatIsLongerThanWhatACrashLeftIsRight() throws IOException {
        write(PACK, bytes(1000, 1));
        awaitStored();
        directory.close();
        Files.write(folder.resolve("staging").resolve(PACK), bytes(600, 1));
        directory = open("staging", 1 << 30);
        assertArrayEquals(bytes(1000, 1), read(directory, PACK));
        assertEquals(0, directory.missingBytes());
    }

    /** What the store does not have is bounded: else the local disk would be full when it does not answer. */
    @Test
    void aNewPackWaitsForAStoreThatDoesNotKeepUp() throws Exception {
        directory.close();
        directory = open("staging", 0);
        store.failure = new IOException("not now");
        ByteBuffer zeros = ByteBuffer.allocate(60 << 20);
        for (int pack = 0; pack < 5; pack++) {
            try (Output output = directory.create(PackFormat.fileName(1 + pack))) {
                output.append(zeros.clear());
            }
        }
        AtomicLong missing = new AtomicLong();
        Thread writer = new Thread(() -> {
            try (Output output = directory.create(LATER)) {
                missing.set(directory.missingBytes());
            } catch (IOException e) {
                missing.set(Long.MAX_VALUE);
            }
        });
        writer.start();
        TestWait.until(() -> writer.getState() == Thread.State.TIMED_WAITING);
        assertEquals(300 << 20, directory.missingBytes());
        store.failure = null;
        writer.join();
        assertTrue(missing.get() <= 256 << 20, missing + " bytes were missing");
        awaitStored();
    }

    @Test
    void aDamagedRangeOfALocalPackIsReadFromTheStore() throws IOException {
        byte[] bytes = bytes(100_000, 1);
        write(PACK, bytes);
        awaitStored();
        byte[] damaged = bytes.clone();
        damaged[5000] ^= 1;
        Files.write(folder.resolve("staging").resolve(PACK), damaged);
        try (Input input = directory.open(PACK)) {
            ByteBuffer read = ByteBuffer.allocate(10);
            input.readFully(4995, read);
            assertEquals(damaged[5000], read.get(5), "the control");
            assertTrue(input.forgetCopies(4000, 2000));
            input.readFully(4995, read.clear());
            assertEquals(bytes[5000], read.get(5));
            assertEquals(1, store.reads.get());
            input.readFully(90_000, read.clear());
            assertEquals(1, store.reads.get(), "the rest is read in the folder");
            assertTrue(input.forgetCopies(4000, 2000), "what was read from the store may be damaged in the cache");
            input.readFully(4995, read.clear());
            assertEquals(bytes[5000], read.get(5));
        }
    }

    /** Two readers read the same damage, and both say so. Neither may take it for damage in the store. */
    @Test
    void eachReaderOfADamagedLocalPackIsSentToTheStore() throws IOException {
        byte[] bytes = bytes(100_000, 1);
        write(PACK, bytes);
        awaitStored();
        byte[] damaged = bytes.clone();
        damaged[5000] ^= 1;
        Files.write(folder.resolve("staging").resolve(PACK), damaged);
        try (Input one = directory.open(PACK);
                Input other = directory.open(PACK)) {
            for (Input input : List.of(one, other)) {
                ByteBuffer read = ByteBuffer.allocate(10);
                input.readFully(4995, read);
                assertEquals(damaged[5000], read.get(5), "the control");
            }
            assertTrue(one.forgetCopies(4000, 2000));
            assertTrue(other.forgetCopies(4000, 2000), "it has read the local file, too");
            ByteBuffer right = ByteBuffer.allocate(10);
            other.readFully(4995, right);
            assertEquals(bytes[5000], right.get(5));
        }
    }

    /** The disk of the folder does not read a block of a pack that the store has. */
    @Test
    void aRangeOfALocalPackThatCannotBeReadIsReadFromTheStore() throws IOException {
        directory.close();
        HookedDirectory failing = new HookedDirectory(FileDirectory.open(folder.resolve("staging")));
        directory =
                RemoteDirectory.open(failing, store, new RemoteDirectory.Bounds(1 << 30, 8 << 20), clock::get, "test");
        byte[] bytes = bytes(100_000, 1);
        write(PACK, bytes);
        awaitStored();
        failing.readHook = (name, offset, end) -> {
            if (name.equals(PACK) && offset < 5000 && end > 4999) {
                throw new IOException("Input/output error");
            }
        };
        try (Input input = directory.open(PACK)) {
            ByteBuffer read = ByteBuffer.allocate(10);
            input.readFully(4995, read);
            assertEquals(bytes[5000], read.get(5));
            assertEquals(1, store.reads.get());
            input.readFully(90_000, read.clear());
            assertEquals(1, store.reads.get(), "the rest is read in the folder");
            assertThrows(EOFException.class, () -> input.readFully(99_995, read.clear()));
        }
    }

    @Test
    void otherBytesUnderTheNameAreAnError() throws IOException {
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.wrap(bytes(1000, 1)));
            output.force();
            ObjectStore other = FolderObjectStore.open(folder.resolve("store"));
            other.put(PackNames.pack(PACK), org.opendedup.sar.objects.ObjectSource.of(bytes(1000, 9)));
        }
        TestWait.until(() -> directory.failure() != null);
        assertThrows(IOException.class, () -> directory.await(directory.mark()));
        assertTrue(String.valueOf(directory.failure()).contains("another one writes there"));
    }

    @Test
    void filesThatAreNoPacksAreInTheFolder() throws IOException {
        try (Output output = directory.create("volume.id.new")) {
            output.append(ByteBuffer.wrap(new byte[] {1}));
        }
        directory.rename("volume.id.new", "volume.id");
        assertEquals(List.of("volume.id"), directory.names());
        assertTrue(directory.exists("volume.id"));
        assertEquals(List.of("volume.id"), directory.list());
        directory.delete("volume.id");
        assertFalse(directory.exists("volume.id"));
        assertThrows(IOException.class, () -> directory.rename("x", PACK));
    }

    @Test
    void theLengthsOfPacksComeFromTheirList() throws IOException {
        directory.close();
        directory = open("staging", 0);
        write(PACK, bytes(1000, 1));
        write(LATER, bytes(2000, 2));
        awaitStored();
        TestWait.until(() -> directory.statistics().folderBytes() == 0);
        assertEquals(List.of(PACK, LATER), directory.list());
        int before = store.statuses.get();
        assertEquals(1000, directory.length(PACK));
        assertEquals(2000, directory.allocatedBytes(LATER));
        assertEquals(before, store.statuses.get(), "each would be a request");
        store.delete(List.of(PackNames.pack(LATER)));
        assertFalse(directory.exists(LATER), "that is asked, whatever is remembered");
    }

    @Test
    void aYoungPackIsNotWorthToBeWrittenAnew() throws IOException {
        assertEquals(0.5, directory.leastDeadShare(PACK));
        directory.charge(new StorePrices(0.0125, 0.01, 0.001, 0.01, 30));
        assertEquals(0.14, directory.leastDeadShare(PACK), 0.01, "the store does not say how old it is");
        store.madeAt = Optional.of(Instant.now().minus(Duration.ofDays(29)));
        assertTrue(directory.leastDeadShare(PACK) > 1);
        store.madeAt = Optional.of(Instant.now().minus(Duration.ofDays(31)));
        assertEquals(0.14, directory.leastDeadShare(PACK), 0.01);
    }

    @Test
    void aPackTakesNoMoreWhenItsObjectIsLargeEnough() throws IOException {
        try (Output output = directory.create(PACK)) {
            output.append(ByteBuffer.allocate(50 << 20));
            assertTrue(directory.takesMore(PACK));
            output.append(ByteBuffer.allocate(6 << 20));
            assertFalse(directory.takesMore(PACK));
        }
    }
}
