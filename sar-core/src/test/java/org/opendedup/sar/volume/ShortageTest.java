package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.FullKeyValueStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.names.AccessTimes;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeDevices;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Stores without space for a while: the volume's answers meanwhile, its behaviour when there is space, and its state
 * after a crash.
 */
@Timeout(120)
class ShortageTest {
    private static final int CRASHES = 40;
    private static final long MIB = 1 << 20;
    private static final Owner ALICE = new Owner(1000, 1000);

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private CrashDirectory containers = new CrashDirectory(1);
    private CrashKeyValueStore database = new CrashKeyValueStore();
    private FullKeyValueStore metadata = new FullKeyValueStore(database);
    private final FakeDevice dataDevice = new FakeDevice("data");
    private final FakeDevice metadataDevice = new FakeDevice("metadata");

    private static final class FakeDevice implements Device {
        final AtomicLong usable = new AtomicLong(10L << 30);
        private final String name;

        FakeDevice(String name) {
            this.name = name;
        }

        @Override
        public long usableBytes() {
            return usable.get();
        }

        @Override
        public long totalBytes() {
            return 20L << 30;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private Volume create() throws IOException {
        Volume.create(config, containers, metadata, InstantSource.system());
        return open();
    }

    private Volume open() throws IOException {
        return open(containers);
    }

    private Volume open(Directory data) throws IOException {
        return Volume.open(
                config,
                new VolumeStores(
                        data,
                        metadata,
                        new HeapChunkIndex(),
                        InstantSource.system(),
                        HotChunks::open,
                        new VolumeDevices(dataDevice, metadataDevice, metadataDevice, Ballasts.none())),
                Verification.FINGERPRINTS);
    }

    /** Opens the state after a crash; the volume that ran before is not closed, because it has no power. */
    private Volume crash(long seed) throws IOException {
        database = database.crash(seed);
        metadata = new FullKeyValueStore(database);
        containers = containers.crash(seed);
        return open();
    }

    private static long make(Volume volume, String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name(name), 0100644, 0, ALICE).inode();
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private static byte[] random(long seed, int bytes) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    private static void write(Volume volume, long inode, byte[] data) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(data));
        } finally {
            volume.close(file);
        }
    }

    private static void sync(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.sync(file);
        } finally {
            volume.close(file);
        }
    }

    private static byte[] read(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            byte[] data = new byte[(int) volume.attributes(inode).size()];
            volume.read(file, 0, ByteBuffer.wrap(data));
            return data;
        } finally {
            volume.close(file);
        }
    }

    private static byte[] read(Volume volume, String name) throws IOException {
        return read(volume, volume.lookup(Inode.ROOT, name(name)).inode());
    }

    /**
     * A volume of 100 GiB on disks with 10 GiB: the space that statfs(2) shows as available is the space that
     * fallocate(2) accepts.
     */
    /** The space that deletes need is not given to records that only save a sync. */
    @Test
    void aSyncStoresWhatTheDeviceOfTheMetadataHasNoRoomToLog() throws IOException {
        long room = 64 << 10;
        metadataDevice.usable.set(64 * MIB + room);
        byte[] many = random(1, 60_000);
        byte[] few = random(2, 100);
        try (Volume volume = create()) {
            long large = make(volume, "large");
            write(volume, large, many);
            sync(volume, large);
            assertEquals(0, volume.context().writer().intents().bytes(), "twice these bytes have no room");
            long small = make(volume, "small");
            write(volume, small, few);
            sync(volume, small);
            assertTrue(volume.context().writer().intents().bytes() > 0, "control: these have room");
        }
    }

    /** What is removed moves into the snapshots: the reserve must be left for the deletion that empties the disk. */
    @Test
    void aFullDiskWithSnapshotsIsEmptiedByDeletingThem() throws Exception {
        try (Volume volume = create()) {
            long inode = make(volume, "file");
            write(volume, inode, random(1, 600_000));
            volume.forget(inode, 1);
            make(volume, "other");
            volume.snapshots().create("snapshot", 0, false);
            // Enough for a name, and too little for pages.
            metadataDevice.usable.set(64 * MIB + (100 << 10));
            // The free space is read again after a while.
            TestWait.until(() -> !isAdmitted(() -> volume.context().committer().checkRoom(100 << 10)));
            volume.unlink(Inode.ROOT, name("file"));
            volume.sync();
            volume.context().reaper().freed().get();
            volume.sync();
            assertEquals(0, movedPages(volume), "pages move when there is room");
            metadataDevice.usable.set(64 * MIB);
            TestWait.until(() -> !isAdmitted(() -> volume.change(Inode.ROOT, AttributeChange.ofMode(0700))));
            assertFalse(isAdmitted(() -> volume.unlink(Inode.ROOT, name("other"))));
            assertEquals(0, volume.statistics().garbageBytes());
            volume.snapshots().delete("snapshot");
            TestWait.until(() -> {
                volume.sync();
                return volume.statistics().garbageBytes() > 0;
            });
            assertEquals(0, movedPages(volume));
            volume.unlink(Inode.ROOT, name("other"));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    private interface Change {
        void run() throws IOException;
    }

    private static boolean isAdmitted(Change change) throws IOException {
        try {
            change.run();
            return true;
        } catch (NoSpaceException e) {
            return false;
        }
    }

    private static long movedPages(Volume volume) throws IOException {
        long pages = 0;
        try (var versions = PresentRecords.of(volume.context().metadata()).versions()) {
            while (versions.next()) {
                pages += Objects.requireNonNull(versions.value()).kind() == Kind.RECIPE ? 1 : 0;
            }
        }
        return pages;
    }

    @Test
    void moreThanTheDisksCanStoreIsNotAllocated() throws IOException {
        try (Volume volume = create()) {
            OpenFile file = volume.open(make(volume, "file"), true);
            long available = volume.space().availableBytes();
            assertThrows(NoSpaceException.class, () -> volume.allocate(file, 0, available + MIB, false));
            assertEquals(0, volume.attributes(file.inode()).size());
            volume.allocate(file, 0, available - MIB, false);
            dataDevice.usable.set(available / 2);
            assertThrows(NoSpaceException.class, () -> volume.allocate(file, 0, available - MIB, true));
            volume.close(file);
        }
    }

    /** A device that becomes full leaves access times unchanged: a reader must not take the last space. */
    @Test
    void readingSetsNoTimesWhereMetadataHasNoRoom() throws IOException {
        try (Volume volume = create()) {
            long inode = make(volume, "file");
            volume.commit();
            assertTrue(volume.noteAccess(inode, AccessTimes.ALWAYS), "the control");
            metadataDevice.usable.set(0);
            // The bytes admitted by the figure of the last half second are used up.
            assertThrows(NoSpaceException.class, () -> {
                for (int i = 0; i < 1_000_000; i++) {
                    make(volume, "more-" + i);
                }
            });
            long accessed = volume.attributes(inode).accessedNs();
            assertFalse(volume.noteAccess(inode, AccessTimes.ALWAYS));
            assertEquals(accessed, volume.attributes(inode).accessedNs());
            metadataDevice.usable.set(10L << 30);
        }
    }

    /** The data that waits for space, by store. */
    private enum Full {
        METADATA,
        CONTAINERS
    }

    private void fill(Full full) {
        if (full == Full.METADATA) {
            metadata.refuseNextCommits(Integer.MAX_VALUE);
        } else {
            // A pack can be begun: a file whose bytes find no container has the length of its recipe after a crash.
            containers.noSpaceAfter(PackFormat.FIRST_CONTAINER + 100);
        }
    }

    private void relieve() {
        metadata.refuseNextCommits(0);
        containers.noSpaceAfter(Long.MAX_VALUE);
    }

    /** Another program has filled the disk: what was free half a second ago admits nothing once a commit found none. */
    @Test
    void afterACommitThatFoundNoSpaceTheFreeSpaceIsReadAgain() throws IOException {
        try (Volume volume = create()) {
            long before = make(volume, "before");
            long after = make(volume, "after");
            write(volume, before, random(1, 300_000));
            dataDevice.usable.set(0);
            fill(Full.CONTAINERS);
            assertThrows(NoSpaceException.class, () -> sync(volume, before));
            relieve();
            volume.commit();
            assertThrows(NoSpaceException.class, () -> write(volume, after, random(2, 300_000)));
            // The control.
            dataDevice.usable.set(10L << 30);
            write(volume, after, random(2, 300_000));
        }
    }

    @Test
    void aShortageIsToldAsSuchAndEndsWithoutARemount() throws IOException {
        for (Full full : Full.values()) {
            containers = new CrashDirectory(1);
            database = new CrashKeyValueStore();
            metadata = new FullKeyValueStore(database);
            try (Volume volume = create()) {
                byte[] old = random(1, 300_000);
                byte[] fresh = random(2, 300_000);
                long kept = make(volume, "kept");
                write(volume, kept, old);
                sync(volume, kept);
                long waiting = make(volume, "waiting");
                write(volume, waiting, fresh);
                fill(full);

                assertThrows(NoSpaceException.class, () -> sync(volume, waiting));
                assertThrows(NoSpaceException.class, volume::sync);
                assertThrows(NoSpaceException.class, () -> make(volume, "refused"));
                assertThrows(NoSpaceException.class, () -> write(volume, kept, fresh));
                assertEquals(0, volume.space().availableBytes());
                // Reads work, and so do changes that free something.
                assertArrayEquals(old, read(volume, kept));
                assertArrayEquals(fresh, read(volume, waiting));
                volume.unlink(Inode.ROOT, name("kept"));
                volume.rename(Inode.ROOT, name("waiting"), Inode.ROOT, name("renamed"), RenameMode.REPLACE);

                relieve();
                sync(volume, waiting);
                assertTrue(volume.space().availableBytes() > 0);
                write(volume, make(volume, "later"), old);
                volume.sync();
            }
            try (Volume volume = crash(3)) {
                assertThrows(PosixException.class, () -> read(volume, "kept"));
                assertArrayEquals(random(2, 300_000), read(volume, "renamed"));
                assertArrayEquals(random(1, 300_000), read(volume, "later"));
                assertEquals(List.of(), VolumeChecker.check(volume));
            }
        }
    }

    /** The first to find out stores once more, after a commit that writes what waits. */
    @Test
    void maintenanceStoresAFileWhoseContainerWaitedForSpaceUnnoticed() throws IOException, InterruptedException {
        HookedDirectory data = new HookedDirectory(containers);
        Volume.create(config, containers, metadata, InstantSource.system());
        try (Volume volume = open(data)) {
            long inode = make(volume, "file");
            OpenFile file = volume.open(inode, true);
            // The pack can be begun. More than a frame and less than two is stored before the frame finds no space.
            containers.noSpaceAfter(PackFormat.FIRST_CONTAINER + 100);
            CountDownLatch stored = new CountDownLatch(1);
            data.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND
                        && Thread.currentThread().getName().contains("worker")) {
                    Uninterruptibles.awaitUninterruptibly(stored);
                }
            };
            volume.write(file, 0, ByteBuffer.wrap(random(1, 100_000)));
            volume.secure(file);
            stored.countDown();
            while (containers.refusedAppends() == 0) {
                Thread.sleep(10);
            }
            relieve();
            byte[] fresh = random(2, 100_000);
            volume.write(file, 0, ByteBuffer.wrap(fresh));

            assertEquals(
                    fresh.length,
                    volume.maintenance().fragmentation(inode, DiskModel.HDD).bytes());
            assertArrayEquals(fresh, read(volume, inode));
            volume.close(file);
        }
    }

    /** No request is needed: the periodic commits retry. */
    @Test
    void whatWaitsIsWrittenByItselfWhenThereIsSpace() throws IOException, InterruptedException {
        for (Full full : Full.values()) {
            containers = new CrashDirectory(1);
            database = new CrashKeyValueStore();
            metadata = new FullKeyValueStore(database);
            try (Volume volume = create()) {
                long waiting = make(volume, "waiting");
                write(volume, waiting, random(2, 300_000));
                fill(full);
                assertThrows(NoSpaceException.class, () -> sync(volume, waiting));
                long before = volume.statistics().commits();
                relieve();
                while (volume.statistics().commits() == before || volume.space().availableBytes() == 0) {
                    Thread.sleep(20);
                }
            }
            try (Volume volume = crash(5)) {
                assertArrayEquals(random(2, 300_000), read(volume, "waiting"));
            }
        }
    }

    /**
     * The power cut happens after the failed commit, before the repeated one or after it; seeds decide which part of
     * the failed one exists.
     */
    @Test
    void aCrashBetweenAFailedCommitAndItsRepetitionLeavesOneStateOrTheOther() throws IOException {
        int withFailed = 0;
        for (int seed = 0; seed < CRASHES; seed++) {
            for (Full full : Full.values()) {
                containers = new CrashDirectory(seed);
                database = new CrashKeyValueStore();
                metadata = new FullKeyValueStore(database);
                Volume volume = create();
                write(volume, make(volume, "a"), random(1, 200_000));
                volume.sync();
                write(volume, make(volume, "b"), random(2, 200_000));
                fill(full);
                assertThrows(NoSpaceException.class, volume::sync);
                // Collects after the frozen generation, and changes the same records.
                volume.unlink(Inode.ROOT, name("a"));
                if (seed % 4 == 1) {
                    assertThrows(NoSpaceException.class, volume::sync);
                }
                boolean repeated = seed % 4 == 2;
                if (repeated) {
                    relieve();
                    volume.sync();
                }
                try (Volume found = crash(seed)) {
                    List<String> names = names(found);
                    if (repeated) {
                        assertEquals(List.of("b"), names);
                    } else {
                        assertTrue(names.equals(List.of("a")) || names.equals(List.of("a", "b")), names::toString);
                        assertArrayEquals(random(1, 200_000), read(found, "a"));
                        withFailed += names.size() - 1;
                    }
                    if (names.contains("b")) {
                        assertArrayEquals(random(2, 200_000), read(found, "b"));
                    }
                    assertEquals(List.of(), VolumeChecker.check(found));
                } finally {
                    closeWithoutPower(volume);
                }
            }
        }
        assertTrue(withFailed > 0, "no failed commit came to light after a crash");
    }

    /** Its threads end. */
    private static void closeWithoutPower(Volume volume) {
        try {
            volume.close();
        } catch (IOException e) {
            // Any other failure, if it had something to write.
        }
    }

    private static List<String> names(Volume volume) throws IOException {
        List<String> names = new ArrayList<>();
        volume.list(Inode.ROOT, 0, false, (name, inode, type, cookie, attributes) -> {
            String text = new String(name, UTF_8);
            if (!text.startsWith(".")) {
                names.add(text);
            }
            return true;
        });
        names.sort(null);
        return names;
    }

    /**
     * The control: chunks that a failed force lost are no shortage, and are never committed, however often this is
     * retried.
     */
    @Test
    void lostChunksAreNeverCommittedAlsoWhenThereIsSpace() throws IOException {
        Volume volume = create();
        write(volume, make(volume, "a"), random(1, 200_000));
        volume.sync();
        write(volume, make(volume, "b"), random(2, 200_000));
        metadata.refuseNextCommits(1);
        assertThrows(NoSpaceException.class, volume::sync);
        long c = make(volume, "c", () -> relieve());
        write(volume, c, random(3, 200_000));
        containers.failForce(1);

        assertFalse(assertThrows(IOException.class, volume::sync) instanceof NoSpaceException);
        assertFalse(assertThrows(IOException.class, volume::sync) instanceof NoSpaceException);
        PosixException refused = assertThrows(PosixException.class, () -> make(volume, "d"));
        assertEquals(PosixException.Reason.EROFS, refused.reason());
        try (Volume found = crash(2)) {
            assertArrayEquals(random(1, 200_000), read(found, "a"));
            assertFalse(names(found).contains("c"));
            assertEquals(List.of(), VolumeChecker.check(found));
        } finally {
            closeWithoutPower(volume);
        }
    }

    /** Data that waited for space is lost after all: the repeated commit must detect it. */
    @Test
    void chunksThatAreLostWhileTheyWaitAreNeverCommitted() throws IOException {
        for (int seed = 0; seed < CRASHES; seed++) {
            containers = new CrashDirectory(seed);
            database = new CrashKeyValueStore();
            metadata = new FullKeyValueStore(database);
            Volume volume = create();
            write(volume, make(volume, "a"), random(1, 200_000));
            volume.sync();
            write(volume, make(volume, "b"), random(2, 200_000));
            OpenFile b = volume.open(volume.lookup(Inode.ROOT, name("b")).inode(), true);
            containers.noSpaceAfter(100_000);
            assertThrows(NoSpaceException.class, () -> volume.sync(b));
            relieve();
            containers.failForce(1);

            assertFalse(assertThrows(IOException.class, () -> volume.sync(b)) instanceof NoSpaceException);
            assertFalse(assertThrows(IOException.class, volume::sync) instanceof NoSpaceException);
            volume.close(b);
            try (Volume found = crash(seed)) {
                assertEquals(List.of("a"), names(found));
                assertArrayEquals(random(1, 200_000), read(found, "a"));
                assertEquals(List.of(), VolumeChecker.check(found));
            } finally {
                closeWithoutPower(volume);
            }
        }
    }

    private static long make(Volume volume, String name, Runnable before) throws IOException {
        before.run();
        volume.sync();
        return make(volume, name);
    }

    @Test
    void writersDoNotWaitForMemoryThatOnlySpaceCanFree() throws IOException {
        try (Volume volume = create()) {
            fill(Full.CONTAINERS);
            assertThrows(NoSpaceException.class, () -> {
                for (int i = 0; i < 1000; i++) {
                    write(volume, make(volume, "file-" + i), random(i, 1 << 20));
                }
            });
            relieve();
            volume.sync();
            for (String name : names(volume)) {
                byte[] found = read(volume, name);
                byte[] wanted = random(Integer.parseInt(name.substring("file-".length())), 1 << 20);
                assertTrue(found.length == 0 || Arrays.equals(found, wanted), name);
            }
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /** The source's dirty bytes find no space at first, and space returns before the copy continues. */
    @Test
    void aCopyNeverTakesStoredBytesForNewerOnesThatFoundNoSpace() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            // Of the dirty files, which the copy has stored in no particular order, the source may be the last.
            while (!copyWhileSpaceReturns(other)) {}
        } finally {
            other.shutdownNow();
        }
    }

    /**
     * Returns false if no file was stored after the source, so that nothing could end the shortage before the copy
     * continued.
     */
    private boolean copyWhileSpaceReturns(ExecutorService other) throws IOException {
        containers = new CrashDirectory(1);
        metadata = new FullKeyValueStore(new CrashKeyValueStore());
        byte[] fresh = random(2, 100_000);
        List<String> names = List.of("source", "b", "c", "d", "e", "f", "g", "h");
        try (Volume volume = create()) {
            for (String name : names) {
                write(volume, make(volume, name), random(1, 100_000));
            }
            make(volume, "target");
            volume.sync();
        }
        HookedDirectory hooked = new HookedDirectory(containers);
        // There is no open container yet. Storing begins one, which is deleted when it finds no space: so nothing waits
        // in memory, and a commit succeeds.
        try (Volume volume = open(hooked)) {
            for (String name : names) {
                write(volume, volume.lookup(Inode.ROOT, name(name)).inode(), fresh);
            }
            OpenFile source =
                    volume.open(volume.lookup(Inode.ROOT, name("source")).inode(), false);
            OpenFile target =
                    volume.open(volume.lookup(Inode.ROOT, name("target")).inode(), true);
            ReentrantLock storing = (ReentrantLock) source.node().contents().storing;
            AtomicInteger refusals = new AtomicInteger();
            AtomicBoolean committed = new AtomicBoolean();
            hooked.hook = (call, name) -> {
                if (call != HookedDirectory.Call.APPEND) {
                    return;
                }
                // The copy's first step stores the source, and then, with all others, frees space.
                if (refusals.get() < 2) {
                    refusals.addAndGet(storing.isHeldByCurrentThread() ? 1 : 0);
                    throw new NoSpaceException("No space left on device");
                }
                if (!storing.isHeldByCurrentThread() && committed.compareAndSet(false, true)) {
                    commit(volume, other);
                }
            };
            boolean copied = true;
            try {
                assertEquals(fresh.length, volume.copy(source, 0, target, 0, fresh.length));
                assertArrayEquals(fresh, read(volume, "target"));
                assertArrayEquals(fresh, read(volume, "source"));
            } catch (NoSpaceException e) {
                copied = false;
            }
            assertEquals(2, refusals.get());
            hooked.hook = (call, name) -> {};
            volume.close(source);
            volume.close(target);
            volume.sync();
            assertEquals(List.of(), VolumeChecker.check(volume));
            return copied;
        }
    }

    /** It ends the shortage. */
    private static void commit(Volume volume, ExecutorService other) throws IOException {
        try {
            other.submit(() -> {
                        volume.context().committer().commit();
                        return null;
                    })
                    .get();
        } catch (ExecutionException | InterruptedException e) {
            throw new IOException(e);
        }
    }

    /**
     * A crash has left the tail of a truncated file; while there is no space to remove it, the file must not grow into
     * it.
     */
    @Test
    void aTailThatFindsNoSpaceAtMountIsRemovedWhenThereIsSome() throws IOException, InterruptedException {
        byte[] data = random(1, 2_000_000);
        long inode;
        try (Volume volume = create()) {
            inode = make(volume, "cut");
            write(volume, inode, data);
            volume.sync();
            // The state after a truncation, before its tail is removed.
            volume.context().metadata().namespace().addOrphan(inode, 4);
            volume.context().committer().commit();
        }
        metadata.refuseRecipes(true);
        try (Volume volume = open()) {
            OpenFile file = volume.open(inode, true);
            assertThrows(NoSpaceException.class, () -> volume.write(file, 0, ByteBuffer.wrap(new byte[1])));
            metadata.refuseRecipes(false);
            while (true) {
                try {
                    volume.write(file, 0, ByteBuffer.wrap(data, 0, 1));
                    break;
                } catch (NoSpaceException e) {
                    Thread.sleep(20);
                }
            }
            assertEquals(List.of(), volume.context().metadata().namespace().orphans());
            assertEquals(4, volume.context().metadata().recipes().existingPages(inode, 0, 100, 100).length);
            volume.close(file);
        }
    }

    /** The same while the volume is mounted: the file has its new length at once. */
    @Test
    void aTailThatFindsNoSpaceWhenItIsCutOffIsRemovedWhenThereIsSome() throws IOException, InterruptedException {
        byte[] data = random(1, 2_000_000);
        try (Volume volume = create()) {
            long inode = make(volume, "cut");
            write(volume, inode, data);
            volume.sync();
            int pageBytes = volume.context().metadata().header().pageBytes();
            metadata.refuseRecipes(true);
            volume.change(inode, AttributeChange.ofSize(4L * pageBytes));
            assertEquals(4L * pageBytes, volume.attributes(inode).size());
            assertThrows(NoSpaceException.class, () -> write(volume, inode, data));
            metadata.refuseRecipes(false);
            while (!volume.context().metadata().namespace().orphans().isEmpty()) {
                Thread.sleep(20);
            }
            while (true) {
                try {
                    write(volume, inode, data);
                    break;
                } catch (NoSpaceException e) {
                    Thread.sleep(20);
                }
            }
            volume.sync();
            assertArrayEquals(data, read(volume, inode));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /**
     * Changes that no commit has encoded yet must also be written: otherwise more is accepted than the device can
     * store.
     */
    @Test
    void theTargetsOfSymbolicLinksCountBeforeTheyAreCommitted() throws IOException {
        try (Volume volume = create()) {
            long before = volume.context().metadata().unwrittenBytes();
            byte[] target = new byte[4000];
            Arrays.fill(target, (byte) 't');
            for (int i = 0; i < 50; i++) {
                volume.makeSymbolicLink(Inode.ROOT, name("link-" + i), target, ALICE);
            }
            assertTrue(volume.context().metadata().unwrittenBytes() - before >= 2L * 50 * target.length);
        }
    }

    @Test
    void theScarcestDeviceDecides() throws IOException, InterruptedException {
        try (Volume volume = create()) {
            long inode = make(volume, "a");
            long plenty = volume.space().availableBytes();
            assertTrue(plenty > 9L << 30, () -> "only " + plenty);
            // In addition to the reserve of 64 MiB there is first space for records of some GB, and then for those of
            // some MB.
            metadataDevice.usable.set(70 * MIB);
            assertTrue(volume.space().availableBytes() < 2L << 30);
            metadataDevice.usable.set(64 * MIB + 1000);
            assertTrue(volume.space().availableBytes() < MIB);
            // The free capacity is reported unchanged: otherwise a new volume on a full disk looks full.
            assertEquals(config.capacityBytes(), volume.space().freeBytes());
            awaitRefresh();
            assertThrows(NoSpaceException.class, () -> write(volume, inode, random(1, 1 << 20)));
            assertThrows(NoSpaceException.class, () -> make(volume, "b"));
            assertThrows(
                    NoSpaceException.class,
                    () -> volume.setExtendedAttribute(
                            inode, name("user.a"), new byte[5000], SetMode.CREATE_OR_REPLACE));
            volume.unlink(Inode.ROOT, name("a"));
            volume.sync();

            metadataDevice.usable.set(10L << 30);
            dataDevice.usable.set(65 * MIB);
            long b = make(volume, "b");
            awaitRefresh();
            assertThrows(NoSpaceException.class, () -> write(volume, b, random(1, 16 << 20)));
            assertTrue(volume.space().availableBytes() <= MIB);
        }
    }

    /** The free space of devices is read twice a second. */
    private static void awaitRefresh() throws InterruptedException {
        Thread.sleep(600);
    }
}
