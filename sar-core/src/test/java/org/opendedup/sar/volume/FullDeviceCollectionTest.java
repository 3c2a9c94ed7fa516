package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeDevices;
import org.opendedup.sar.volume.store.VolumeStores;

/** A write that finds the device full gives garbage back, and goes on; only without garbage it fails. */
@Timeout(120)
class FullDeviceCollectionTest {
    private static final int MIB = 1 << 20;
    private static final long DEVICE_BYTES = 96L * MIB;
    private static final int FILE_BYTES = 4 * MIB;
    /** Files that are written whatever happens: more than the device has room for. */
    private static final int FILES = 40;
    /** Pages of a file that is not freed at once: several batches of the thread that does it. */
    private static final int LONG_PAGES = 800;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private final CrashDirectory containers = new CrashDirectory(1);
    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 10L << 30, Chunking.VARIABLE_SHA256);
    private final List<byte[]> contents = new ArrayList<>();
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    /** Bytes on the device of the containers that other programs use. */
    private final AtomicLong ofOthers = new AtomicLong();

    private final Device device = new CountedDevice(containers, ofOthers, DEVICE_BYTES);
    private Volume volume;

    /** The device of a directory that counts its bytes. */
    private record CountedDevice(CrashDirectory directory, AtomicLong ofOthers, long totalBytes) implements Device {
        @Override
        public long usableBytes() throws IOException {
            return Math.max(0, directory.usableBytes() - ofOthers.get());
        }
    }

    private record EndlessDevice() implements Device {
        @Override
        public long usableBytes() {
            return 1L << 40;
        }

        @Override
        public long totalBytes() {
            return 1L << 40;
        }
    }

    @BeforeEach
    void make() throws IOException {
        Volume.create(config, containers, metadata, InstantSource.system());
        containers.noSpaceAfter(DEVICE_BYTES);
        volume = open(new EndlessDevice());
    }

    private Volume open(Device ofMetadata) throws IOException {
        return open(ofMetadata, metadata);
    }

    private Volume open(Device ofMetadata, KeyValueStore database) throws IOException {
        return Volume.open(
                config,
                new VolumeStores(
                        containers,
                        database,
                        new HeapChunkIndex(),
                        InstantSource.system(),
                        HotChunks::open,
                        new VolumeDevices(device, ofMetadata, new EndlessDevice(), Ballasts.none())),
                Verification.FINGERPRINTS);
    }

    @AfterEach
    void check() throws IOException {
        for (int file = 0; file < contents.size(); file++) {
            if (contents.get(file) != null) {
                assertArrayEquals(contents.get(file), read(file), "file " + file);
            }
        }
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private static byte[] name(int file) {
        return ("file" + file).getBytes(UTF_8);
    }

    private void write(int file, byte[] data) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name(file), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile open = volume.open(inode, true);
        try {
            for (int at = 0; at < data.length; at += MIB) {
                volume.write(open, at, ByteBuffer.wrap(data, at, Math.min(MIB, data.length - at)));
            }
            volume.sync(open);
        } finally {
            volume.close(open);
            volume.forget(inode, 1);
        }
    }

    private void store(int file) throws IOException {
        byte[] data = new byte[FILE_BYTES];
        random.nextBytes(data);
        while (contents.size() <= file) {
            contents.add(null);
        }
        write(file, data);
        contents.set(file, data);
    }

    private void remove(int file) throws IOException {
        contents.set(file, null);
        volume.unlink(Inode.ROOT, name(file));
    }

    private byte[] read(int file) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name(file)).inode();
        OpenFile open = volume.open(inode, false);
        ByteBuffer found = ByteBuffer.allocate(FILE_BYTES);
        volume.read(open, 0, found);
        volume.close(open);
        volume.forget(inode, 1);
        return found.array();
    }

    /** Writes files until there is no room; returns how many. The last one is removed. */
    private int fill() throws IOException {
        for (int file = 0; ; file++) {
            try {
                store(file);
            } catch (NoSpaceException e) {
                volume.unlink(Inode.ROOT, name(file));
                return file;
            }
        }
    }

    @Test
    void withoutGarbageAWriteFails() throws IOException {
        int files = fill();
        assertTrue(files > 10 && files < FILES, () -> files + " files");
        assertThrows(NoSpaceException.class, () -> store(files));
        volume.unlink(Inode.ROOT, name(files));
    }

    /** Returns what becomes the reports of the collections that begin because the device is full. */
    private List<CollectionReport> watch(CollectionProgress progress) {
        List<CollectionReport> reports = new CopyOnWriteArrayList<>();
        volume.collector().watch(limits -> new CollectionWatcher.Watch() {
            @Override
            public boolean collected(long done, long bytes, long returned) {
                return progress.collected(done, bytes, returned);
            }

            @Override
            public void ended(CollectionReport report, Exception failure) {
                assertNull(failure);
                reports.add(report);
            }
        });
        return reports;
    }

    private static long returnedBytes(List<CollectionReport> reports) {
        return reports.stream().mapToLong(CollectionReport::returnedBytes).sum();
    }

    @Test
    void whatWasDeletedMakesRoom() throws IOException {
        int files = fill();
        List<CollectionReport> reports = watch(CollectionWatcher.IDLE);
        for (int file = 0; file + 1 < files; file += 2) {
            remove(file);
            remove(file + 1);
            store(files + file);
        }
        assertTrue(returnedBytes(reports) > (files / 2 - 2L) * FILE_BYTES, reports::toString);
    }

    /** A database of which the thread that frees removed files gets no answer for a while. */
    private static final class SlowToFree extends HookedKeyValueStore<KeyValueStore> {
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch answers = new CountDownLatch(1);

        SlowToFree(KeyValueStore store) {
            super(store);
        }

        @Override
        public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
            if (Thread.currentThread().getName().contains("-reaper-")) {
                asked.countDown();
                try {
                    answers.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return super.scan(family, from, to);
        }
    }

    /** Makes a file with so many recipe pages that most of them are freed in the background. */
    private long makeLong(byte[] name) throws IOException {
        long pageBytes = volume.context().metadata().recipes().pageBytes();
        long inode = volume.makeNode(Inode.ROOT, name, 0100644, 0, ROOT).inode();
        OpenFile open = volume.open(inode, true);
        for (int page = 0; page < LONG_PAGES; page++) {
            volume.write(open, page * pageBytes, ByteBuffer.wrap(new byte[] {1}));
        }
        volume.close(open);
        volume.sync();
        return inode;
    }

    /** Freeing a large file, or a snapshot, takes longer than a program should wait, if there is other garbage. */
    @Test
    void aWriteDoesNotWaitUntilALongFileIsFreed() throws Exception {
        volume.close();
        SlowToFree slow = new SlowToFree(metadata);
        volume = open(new EndlessDevice(), slow);
        byte[] name = "long".getBytes(UTF_8);
        long inode = makeLong(name);
        int files = fill();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            volume.unlink(Inode.ROOT, name);
            volume.forget(inode, 1);
            slow.asked.await();
            remove(0);
            remove(1);
            Future<?> stored = thread.submit(() -> {
                store(files);
                return null;
            });
            stored.get(60, TimeUnit.SECONDS);
        } finally {
            slow.answers.countDown();
            thread.shutdown();
        }
    }

    /** What only snapshots have is free for the capacity, and not for the device, and {@code df} shows the lesser. */
    @Test
    void whatOnlyASnapshotHasIsNotAvailable() throws Exception {
        int files = fill() / 2;
        for (int file = files; file < contents.size(); file++) {
            if (contents.get(file) != null) {
                remove(file);
            }
        }
        volume.sync();
        SpaceUse before = volume.space();
        volume.snapshots().create("snapshot", 0, false);
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        volume.sync();
        SpaceUse removed = volume.space();
        long bytes = (long) files * FILE_BYTES;
        assertTrue(bytes > 4 * (long) FILE_BYTES, () -> files + " files");
        assertEquals(before.freeBytes() + bytes, removed.freeBytes());
        assertTrue(removed.availableBytes() <= before.availableBytes(), () -> before + ", then " + removed);
        volume.snapshots().delete("snapshot");
        volume.snapshots().freed().get();
        volume.sync();
        SpaceUse after = volume.space();
        assertEquals(removed.freeBytes(), after.freeBytes());
        assertTrue(after.availableBytes() > removed.availableBytes() + bytes / 2, () -> removed + ", then " + after);
    }

    /** The control: while collections are paused, nothing makes room. */
    @Test
    void whileCollectionsArePausedItDoesNot() throws IOException {
        int files = fill();
        volume.collector().pace().setPaused(true);
        for (int file = 0; file < files / 2; file++) {
            remove(file);
        }
        assertThrows(NoSpaceException.class, () -> {
            for (int file = files; file < FILES; file++) {
                store(file);
            }
        });
        volume.collector().pace().setPaused(false);
        volume.unlink(Inode.ROOT, name(contents.size() - 1));
        contents.remove(contents.size() - 1);
        store(files);
    }

    /** A rate is for the sake of others. A writer that waits is such another. */
    @Test
    void noRateSlowsACollectionForWhichAWriterWaits() throws Exception {
        int files = fill();
        volume.collector().pace().setBytesPerSecond(1);
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        // On request, at a byte a second; it begins with a container of some MB. That is the control.
        CountDownLatch begun = new CountDownLatch(1);
        AtomicLong doneBytes = new AtomicLong();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> slow = thread.submit(() -> volume.collector()
                    .collect(new CollectionLimits(0, false), (done, of, returned) -> {
                        doneBytes.set(done);
                        if (of > 0) {
                            begun.countDown();
                        }
                        return true;
                    }));
            begun.await();
            assertEquals(0, doneBytes.get());
            store(files);
            assertTrue(doneBytes.get() > 0);
            slow.get();
        } finally {
            thread.shutdownNow();
        }
        // The same for collections that begin because the device is full.
        for (int file = files + 1; file < files + FILES; file++) {
            store(file);
            remove(file);
        }
    }

    /** A collection that begins because the device is full shows its progress and its result. */
    @Test
    void whoWatchesSeesWhatAFullDeviceBegins() throws IOException {
        AtomicLong most = new AtomicLong();
        List<CollectionReport> reports = watch((done, bytes, returned) -> {
            most.accumulateAndGet(returned, Math::max);
            return true;
        });
        int files = fill();
        assertEquals(0, most.get());
        reports.clear();
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        store(files);
        assertEquals(1, reports.size());
        assertTrue(reports.get(0).returnedBytes() > FILE_BYTES, () -> reports.toString());
        assertEquals(most.get(), reports.get(0).returnedBytes());
    }

    private static final Owner ROOT = new Owner(0, 0);

    private static final byte[] COPY_TARGET = "target".getBytes(UTF_8);

    /** Requests that need a little space for records of the metadata. */
    private enum Request {
        CREATE((volume, of, name) -> volume.makeNode(Inode.ROOT, name, 0100644, 0, ROOT)),
        CREATE_UNNAMED((volume, of, name) -> volume.makeUnnamed(Inode.ROOT, 0644, ROOT)),
        MAKE_DIRECTORY((volume, of, name) -> volume.makeDirectory(Inode.ROOT, name, 0755, ROOT)),
        MAKE_SYMBOLIC_LINK((volume, of, name) -> volume.makeSymbolicLink(Inode.ROOT, name, name, ROOT)),
        LINK((volume, of, name) -> volume.link(of, Inode.ROOT, name)),
        SET_ATTRIBUTE(
                (volume, of, name) -> volume.setExtendedAttribute(of, name, new byte[1000], SetMode.CREATE_OR_REPLACE)),
        COPY((volume, of, name) -> {
            long made = volume.lookup(Inode.ROOT, COPY_TARGET).inode();
            OpenFile source = volume.open(of, false);
            OpenFile target = volume.open(made, true);
            try {
                volume.copy(source, 0, target, 0, FILE_BYTES);
            } finally {
                volume.close(target);
                volume.close(source);
                volume.forget(made, 1);
            }
        });
        private final Sent sent;

        Request(Sent sent) {
            this.sent = sent;
        }

        private interface Sent {
            void send(Volume volume, long inode, byte[] name) throws IOException;
        }
    }

    /** The metadata are on the device that is full. */
    @Test
    void everyRequestThatFindsNoRoomWaitsForGarbage() throws IOException {
        volume.close();
        volume = open(device);
        volume.makeNode(Inode.ROOT, COPY_TARGET, 0100644, 0, ROOT);
        int files = fill();
        long inode = volume.lookup(Inode.ROOT, name(0)).inode();
        int file = 1;
        for (Request request : Request.values()) {
            // Each request has garbage of its own.
            int end = 1 + (files - 1) * (request.ordinal() + 1) / Request.values().length;
            while (file < end) {
                remove(file++);
            }
            volume.collector().pace().setPaused(true);
            ofOthers.set(device.usableBytes());
            drain(request);
            byte[] name = request.name().getBytes(UTF_8);
            assertThrows(
                    NoSpaceException.class,
                    () -> request.sent.send(volume, inode, name),
                    "the control: nothing collects");
            volume.collector().pace().setPaused(false);
            request.sent.send(volume, inode, name);
            ofOthers.set(0);
        }
        volume.forget(inode, 1);
    }

    /** Uses up what was known to be free before. */
    private void drain(Request request) {
        assertThrows(NoSpaceException.class, () -> {
            for (int made = 0; ; made++) {
                byte[] name = ("drain" + request + made).getBytes(UTF_8);
                volume.makeDirectory(Inode.ROOT, name, 0755, ROOT);
            }
        });
    }

    /** A program that asks first must hear of the room that a collection makes for it. */
    @Test
    void whatACollectionWouldGiveBackIsFree() throws Exception {
        int files = fill();
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        while (volume.statistics().reclaimableBytes() < (files - 1L) * FILE_BYTES) {
            volume.sync();
        }
        assertTrue(volume.collector().isWorthwhile());
        long free = volume.space().availableBytes();
        assertTrue(free > (files - 2L) * FILE_BYTES, () -> free + " bytes are free of " + files + " files");
        volume.collector().pace().setPaused(true);
        assertTrue(volume.space().availableBytes() < 2 * FILE_BYTES, "the control: nothing collects");
        assertFalse(volume.collector().isWorthwhile());
        volume.collector().pace().setPaused(false);
        // Containers are larger than their chunks, and bytes under way count.
        for (int file = files; file < files + free / FILE_BYTES - 2; file++) {
            store(file);
        }
    }

    private void allocate(int file, long bytes) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name(file), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile open = volume.open(inode, true);
        try {
            volume.allocate(open, 0, bytes, false);
        } finally {
            volume.close(open);
            volume.forget(inode, 1);
            volume.unlink(Inode.ROOT, name(file));
        }
    }

    @Test
    void whatWasDeletedIsRoomForFallocate() throws IOException {
        int files = fill();
        assertThrows(NoSpaceException.class, () -> allocate(files, 4 * FILE_BYTES), "the control: no garbage");
        for (int file = 0; file < files / 2; file++) {
            remove(file);
        }
        volume.collector().pace().setPaused(true);
        assertThrows(NoSpaceException.class, () -> allocate(files, 4 * FILE_BYTES), "the control: nothing collects");
        volume.collector().pace().setPaused(false);
        allocate(files, 4 * FILE_BYTES);
    }

    /**
     * A writer waits neither for a collection that is paused nor for one that waits for a pin: both may last for hours.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWriterDoesNotWaitForACollectionThatWaits(boolean forPin) throws Exception {
        int files = fill();
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        CountDownLatch begun = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        Pins.Pin pin = null;
        try {
            if (forPin) {
                pin = volume.collector().pins().pin();
            } else {
                volume.collector().pace().setPaused(true);
            }
            Future<?> collection = thread.submit(() -> volume.collector()
                    .collect(new CollectionLimits(0, false), (done, of, returned) -> {
                        if (of > 0) {
                            begun.countDown();
                        }
                        return true;
                    }));
            begun.await();
            assertThrows(NoSpaceException.class, () -> store(files));
            assertFalse(collection.isDone());
            if (forPin) {
                pin.close();
                pin = null;
            } else {
                volume.collector().pace().setPaused(false);
            }
            collection.get();
        } finally {
            if (pin != null) {
                pin.close();
            }
            volume.collector().pace().setPaused(false);
            thread.shutdownNow();
        }
        volume.unlink(Inode.ROOT, name(files));
        // The control: nothing holds the collection any more.
        store(files + 1);
    }

    /** More than all garbage would give is refused without a collection. */
    @Test
    void whatNeverFitsIsRefusedByFallocateAtOnce() throws IOException {
        int files = fill();
        for (int file = 0; file < files / 2; file++) {
            remove(file);
        }
        AtomicLong begun = new AtomicLong();
        volume.collector().watch(limits -> {
            begun.incrementAndGet();
            return CollectionWatcher.IDLE;
        });
        assertThrows(NoSpaceException.class, () -> allocate(files, 2 * DEVICE_BYTES));
        assertEquals(0, begun.get());
        allocate(files, 4 * FILE_BYTES);
        assertTrue(begun.get() > 0);
    }

    /** Every container keeps a part of its chunks, so that each has to be copied while there is hardly any room. */
    @Test
    void garbageInEveryContainerMakesRoom() throws IOException {
        int files = fill();
        for (int file = 0; file < files; file++) {
            long inode = volume.lookup(Inode.ROOT, name(file)).inode();
            OpenFile open = volume.open(inode, true);
            volume.zero(open, FILE_BYTES / 4, FILE_BYTES / 2, true);
            volume.sync(open);
            volume.close(open);
            volume.forget(inode, 1);
            byte[] data = contents.get(file).clone();
            Arrays.fill(data, FILE_BYTES / 4, FILE_BYTES / 4 + FILE_BYTES / 2, (byte) 0);
            contents.set(file, data);
        }
        List<CollectionReport> reports = watch(CollectionWatcher.IDLE);
        for (int file = files; file < files + files / 4; file++) {
            store(file);
        }
        assertTrue(returnedBytes(reports) > (files / 4 - 2L) * FILE_BYTES, reports::toString);
        assertTrue(reports.stream().mapToLong(CollectionReport::rewritten).sum() > 0, reports::toString);
    }

    /** The collection takes its turns like a reader: a writer waits for it. */
    @Test
    void aCollectionForWhichAWriterWaitsIsNotInTheBackground() throws Exception {
        int files = fill();
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        FutureTask<Void> writing = new FutureTask<>(() -> {
            store(files);
            return null;
        });
        try (DiskQueue.Turn reader = volume.context().disk().enter(Importance.STEP)) {
            new Thread(writing).start();
            TestWait.until(() -> volume.disk().waiting() == 1);
            assertEquals(0, volume.disk().background());
        }
        writing.get();
    }

    /** The control. */
    @Test
    void aCollectionForWhichNobodyWaitsIsInTheBackground() throws Exception {
        store(0);
        volume.sync();
        remove(0);
        FutureTask<CollectionReport> collecting = new FutureTask<>(
                () -> volume.collector().collect(new CollectionLimits(0, false), (done, bytes, returned) -> true));
        try (DiskQueue.Turn reader = volume.context().disk().enter(Importance.STEP)) {
            new Thread(collecting).start();
            TestWait.until(() -> volume.disk().background() == 1);
            assertEquals(0, volume.disk().waiting());
        }
        assertTrue(collecting.get().returnedBytes() > 0);
    }

    @Test
    void severalWritersWaitForTheSameCollection() throws Exception {
        int files = fill();
        for (int file = 0; file < files; file++) {
            remove(file);
        }
        byte[][] data = new byte[4][FILE_BYTES];
        List<CollectionReport> reports = watch(CollectionWatcher.IDLE);
        ExecutorService writers = Executors.newFixedThreadPool(data.length);
        try {
            List<Future<?>> writing = new ArrayList<>();
            for (int writer = 0; writer < data.length; writer++) {
                random.nextBytes(data[writer]);
                int file = FILES + writer;
                byte[] bytes = data[writer];
                writing.add(writers.submit(() -> {
                    write(file, bytes);
                    return null;
                }));
            }
            for (Future<?> each : writing) {
                each.get();
            }
        } finally {
            writers.shutdownNow();
        }
        assertEquals(1, reports.size(), reports::toString);
        while (contents.size() < FILES + data.length) {
            contents.add(null);
        }
        for (int writer = 0; writer < data.length; writer++) {
            contents.set(FILES + writer, data[writer]);
        }
    }
}
