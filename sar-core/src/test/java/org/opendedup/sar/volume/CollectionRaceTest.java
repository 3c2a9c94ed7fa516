package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.Collector;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.collect.Recompression;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.FileRange;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.ChunkIndexes;

/**
 * A collection runs while a writer or a reader is stopped at the worst moment. Each test has a control in which the
 * collection does not wait for it.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CollectionRaceTest {
    private static final int CHUNK = 4096;
    /** Less than a recipe page spans, so that a reader of the border between two such parts reads one page. */
    private static final int GARBAGE_BYTES = 24 * CHUNK;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private VolumeInMemory stores;
    private Volume volume;

    /** A thread stops before a certain call, until it is let on. */
    private static final class Stop implements WatchedDirectory.Watcher {
        private final String method;
        private final String file;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch passed = new CountDownLatch(1);
        private volatile Thread who;

        Stop(String method, String file) {
            this.method = method;
            this.file = file;
        }

        @Override
        public void before(String called, String onFile) {
            if (called.equals(method) && onFile.equals(file) && Thread.currentThread() == who) {
                await();
            }
        }

        void await() {
            who = null;
            reached.countDown();
            awaitUninterrupted(passed);
        }
    }

    /** Work in a thread of its own. */
    private static final class Work<T> {
        private final FutureTask<T> task;
        private final Thread thread;

        Work(Callable<T> work) {
            task = new FutureTask<>(work);
            thread = new Thread(task, "work");
            thread.setDaemon(true);
        }

        Work<T> start() {
            thread.start();
            return this;
        }

        T result() throws IOException, InterruptedException {
            try {
                return task.get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof IOException io) {
                    throw new IOException(io);
                }
                throw new IllegalStateException(e.getCause());
            }
        }

        boolean isWaitingForUses() {
            return thread.getState() == Thread.State.WAITING
                    && Arrays.stream(thread.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().startsWith(GracePeriod.class.getName()));
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void make() throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.SHA256), seed);
        volume = stores.open();
    }

    @AfterEach
    void close() throws IOException {
        VolumeInMemory.abandon(volume);
    }

    private void reopen() throws IOException {
        volume.close();
        volume = stores.open();
    }

    private byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private OpenFile create(String name) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        return opened(inode);
    }

    private void store(String name, byte[] data) throws IOException {
        OpenFile file = create(name);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync(file);
        volume.close(file);
    }

    private void remove(String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
    }

    private OpenFile open(String name) throws IOException {
        return opened(volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode());
    }

    /** Opens an inode that was looked up once. */
    private OpenFile opened(long inode) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.forget(inode, 1);
        return file;
    }

    private byte[] read(OpenFile file, long offset, int length) throws IOException {
        byte[] data = new byte[length];
        assertEquals(length, volume.read(file, offset, ByteBuffer.wrap(data)));
        return data;
    }

    private byte[] read(String name, int length) throws IOException {
        OpenFile file = open(name);
        try {
            return read(file, 0, length);
        } finally {
            volume.close(file);
        }
    }

    private long firstChunk(String name) throws IOException {
        return chunkAt(name, 0);
    }

    private long chunkAt(String name, long offset) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        long[] found = new long[1];
        volume.maintenance().forEachReference(inode, (at, chunk, from, length, prefix) -> {
            found[0] = at == offset ? chunk : found[0];
        });
        return found[0];
    }

    private String packOf(long chunk) throws IOException {
        return PackFormat.fileName(
                volume.context().containers().located(ChunkId.container(chunk)).pack());
    }

    private ReferenceCounts counts() {
        return volume.context().metadata().counts();
    }

    private Work<CollectionReport> collection(boolean awaitsUses) {
        if (awaitsUses) {
            return new Work<>(() -> volume.collector().collect(new CollectionLimits(0, false), (a, b, c) -> true));
        }
        VolumeContext context = volume.context();
        ChunkIndex noIndex = ChunkIndexes.none();
        Collector.Parts parts = new Collector.Parts(
                context.metadata(),
                context.containers(),
                noIndex,
                context.committer(),
                new GracePeriod(),
                new Pins(),
                context.disk(),
                context.damaged(),
                true);
        return new Work<>(() -> new Collector(parts, new Pace(), (a, b, c) -> true)
                .run(new CollectionLimits(0, false), Recompression.NONE));
    }

    /** Waits until a collection has condemned a chunk, and waits for its users. */
    private void awaitCondemned(Work<?> collection, long chunk) throws Exception {
        while (counts().isReferable(chunk) || !collection.isWaitingForUses()) {
            assertFalse(collection.task.isDone(), "the collection does not wait");
            Thread.sleep(1);
        }
    }

    private void assertSound() throws IOException {
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** Damage that reads have found since the volume was opened. */
    private void assertNoDamage() throws IOException {
        volume.sync();
        volume.context().metadata().containers().forEach(entry -> assertEquals(0, entry.damagedSlots()));
    }

    private void crash() throws IOException {
        VolumeInMemory left = stores.crash(seed);
        VolumeInMemory.abandon(volume);
        stores = left;
        volume = stores.open();
    }

    /** Stores garbage in a sealed container, and begins to store the same bytes; stops when their hint is checked. */
    private Work<Object> writerWithHint(byte[] bytes, Stop stop, String name) throws IOException {
        OpenFile file = create(name);
        volume.sync();
        withoutBackground(file);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        Work<Object> writer = new Work<>(() -> {
            volume.sync(file);
            volume.close(file);
            return "stored";
        });
        stop.who = writer.thread;
        stores.watch(stop);
        writer.start();
        awaitUninterrupted(stop.reached);
        return writer;
    }

    /** Stores the file's bytes only on request. */
    private static void withoutBackground(OpenFile file) {
        synchronized (file.node()) {
            file.node().contents().scheduled = true;
        }
    }

    private long garbage(byte[] bytes) throws IOException {
        store("old", bytes);
        reopen();
        long chunk = firstChunk("old");
        remove("old");
        assertEquals(0, counts().count(chunk));
        assertTrue(counts().isReferable(chunk));
        return chunk;
    }

    @Test
    void aHintInFlightIsWaitedFor() throws Exception {
        byte[] bytes = data(GARBAGE_BYTES);
        long chunk = garbage(bytes);
        Stop stop = new Stop("exists", packOf(chunk));
        Work<Object> writer = writerWithHint(bytes, stop, "new");
        Work<CollectionReport> collection = collection(true).start();
        awaitCondemned(collection, chunk);
        assertTrue(counts().isAlive(chunk));
        stop.passed.countDown();
        writer.result();
        collection.result();
        assertEquals(chunk, firstChunk("new"));
        assertTrue(counts().isReferable(chunk));
        assertArrayEquals(bytes, read("new", bytes.length));
        assertSound();
        crash();
        assertArrayEquals(bytes, read("new", bytes.length));
        assertSound();
    }

    @Test
    void aHintThatIsNotWaitedForMakesStoringFail() throws Exception {
        byte[] bytes = data(GARBAGE_BYTES);
        long chunk = garbage(bytes);
        Stop stop = new Stop("exists", packOf(chunk));
        Work<Object> writer = writerWithHint(bytes, stop, "new");
        collection(false).start().result();
        stop.passed.countDown();
        Exception failure = assertThrows(Exception.class, writer::result);
        assertTrue(String.valueOf(failure).contains("tombstone"), failure::toString);
    }

    /** A run's new chunks are in a container that is sealed before the run refers to them. */
    private Work<Object> writerWithUncountedChunks(byte[] fresh, Stop stop, byte[] known) throws IOException {
        byte[] both = Arrays.copyOf(fresh, fresh.length + known.length);
        System.arraycopy(known, 0, both, fresh.length, known.length);
        Work<Object> writer = writerWithHint(both, stop, "new");
        volume.context().containers().endAll();
        volume.commit();
        return writer;
    }

    @Test
    void slotsThatAreNotCountedYetAreWaitedFor() throws Exception {
        byte[] known = data(CHUNK);
        store("known", known);
        reopen();
        Stop stop = new Stop("exists", packOf(firstChunk("known")));
        byte[] fresh = data(GARBAGE_BYTES);
        Work<Object> writer = writerWithUncountedChunks(fresh, stop, known);
        Work<CollectionReport> collection = collection(true).start();
        awaitWaiting(collection);
        stop.passed.countDown();
        writer.result();
        CollectionReport report = collection.result();
        assertTrue(report.victims() > 0, report::toString);
        assertArrayEquals(fresh, read("new", fresh.length));
        assertSound();
        crash();
        assertArrayEquals(fresh, read("new", fresh.length));
        assertSound();
    }

    @Test
    void slotsThatAreNotWaitedForMakeStoringFail() throws Exception {
        byte[] known = data(CHUNK);
        store("known", known);
        reopen();
        Stop stop = new Stop("exists", packOf(firstChunk("known")));
        Work<Object> writer = writerWithUncountedChunks(data(GARBAGE_BYTES), stop, known);
        CollectionReport report = collection(false).start().result();
        assertTrue(report.victims() > 0, report::toString);
        stop.passed.countDown();
        assertThrows(Exception.class, writer::result);
    }

    /**
     * Stores two files in two containers, and a third one that shares the chunks of both. A read of a few bytes across
     * the border of the containers reads one after the other, by one recipe.
     */
    private void storeOverTwoContainers(byte[] first, byte[] second) throws IOException {
        store("first", first);
        reopen();
        store("second", second);
        reopen();
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        store("both", both);
        remove("first");
        remove("second");
        reopen();
    }

    /** Begins to read across the border; stops before the first container is read. */
    private Work<byte[]> readerAtBorder(OpenFile file, Stop stop) {
        Work<byte[]> reader = new Work<>(() -> read(file, GARBAGE_BYTES - CHUNK, 2 * CHUNK));
        stop.who = reader.thread;
        stores.watch(stop);
        reader.start();
        awaitUninterrupted(stop.reached);
        return reader;
    }

    /** Removes what the reader reads, so that nothing refers to it any more. Reads nothing, so nothing is cached. */
    private void punchAtBorder(OpenFile file) throws IOException {
        volume.zero(file, GARBAGE_BYTES - CHUNK, 2 * CHUNK, true);
        volume.sync(file);
    }

    /** The reader was under way when the bytes were removed: it may have read them before or after that. */
    private static void assertOldOrNew(byte[] first, byte[] second, byte[] found) {
        byte[] old = Arrays.copyOfRange(first, GARBAGE_BYTES - CHUNK, GARBAGE_BYTES + CHUNK);
        System.arraycopy(second, 0, old, CHUNK, CHUNK);
        assertTrue(Arrays.equals(old, found) || Arrays.equals(new byte[2 * CHUNK], found));
    }

    private static void awaitWaiting(Work<?> collection) throws InterruptedException {
        while (!collection.isWaitingForUses()) {
            assertFalse(collection.task.isDone(), "the collection does not wait");
            Thread.sleep(1);
        }
    }

    @Test
    void aReaderOfAnOldRecipeIsWaitedFor() throws Exception {
        byte[] first = data(GARBAGE_BYTES);
        byte[] second = data(GARBAGE_BYTES);
        storeOverTwoContainers(first, second);
        OpenFile file = open("both");
        Stop stop = new Stop("readFully", packOf(chunkAt("both", 0)));
        Work<byte[]> reader = readerAtBorder(file, stop);
        punchAtBorder(file);
        Work<CollectionReport> collection = collection(true).start();
        awaitWaiting(collection);
        stop.passed.countDown();
        assertOldOrNew(first, second, reader.result());
        CollectionReport report = collection.result();
        assertEquals(2, report.rewritten(), report::toString);
        assertArrayEquals(new byte[2 * CHUNK], read(file, GARBAGE_BYTES - CHUNK, 2 * CHUNK));
        assertNoDamage();
        assertSound();
    }

    @Test
    void aReaderThatIsNotWaitedForGetsAnError() throws Exception {
        storeOverTwoContainers(data(GARBAGE_BYTES), data(GARBAGE_BYTES));
        OpenFile file = open("both");
        Stop stop = new Stop("readFully", packOf(chunkAt("both", 0)));
        Work<byte[]> reader = readerAtBorder(file, stop);
        punchAtBorder(file);
        collection(false).start().result();
        stop.passed.countDown();
        assertThrows(IOException.class, reader::result);
    }

    /**
     * The reader begins after the garbage was condemned, and reads a recipe that refers to it nevertheless, by a hint
     * from before. Then the recipe changes.
     */
    @Test
    void aReaderOfAHintFromBeforeIsWaitedFor() throws Exception {
        byte[] first = data(GARBAGE_BYTES);
        byte[] second = data(GARBAGE_BYTES);
        storeOverTwoContainers(first, second);
        long chunk = chunkAt("both", GARBAGE_BYTES);
        String firstPack = packOf(chunkAt("both", 0));
        // So that something remains of the second container.
        store("tail", Arrays.copyOfRange(second, CHUNK, second.length));
        remove("both");
        reopen();
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        Stop writing = new Stop("exists", packOf(chunk));
        Work<Object> writer = writerWithHint(both, writing, "new");
        GracePeriod.Use other = volume.context().collector().uses().begin();
        Work<CollectionReport> collection = collection(true).start();
        awaitCondemned(collection, chunk);
        writing.passed.countDown();
        writer.result();
        OpenFile file = open("new");
        Stop reading = new Stop("readFully", firstPack);
        Work<byte[]> reader = readerAtBorder(file, reading);
        punchAtBorder(file);
        other.close();
        while (counts().isAlive(chunk)) {
            Thread.sleep(1);
        }
        awaitWaiting(collection);
        reading.passed.countDown();
        assertOldOrNew(first, second, reader.result());
        collection.result();
        assertNoDamage();
        assertSound();
    }

    /** A container of which a half is garbage, and the chunk in its first live slot. */
    private long halfGarbage(byte[] kept) throws IOException {
        byte[] all = Arrays.copyOf(data(GARBAGE_BYTES), GARBAGE_BYTES + kept.length);
        System.arraycopy(kept, 0, all, GARBAGE_BYTES, kept.length);
        store("all", all);
        store("kept", kept);
        remove("all");
        reopen();
        return chunkAt("kept", 0);
    }

    /** Reads the frame of a chunk without being a user that a collection waits for, like a thread that reads ahead. */
    private Work<Frame> readerAhead(long chunk, boolean run, Stop stop) throws IOException {
        long container = ChunkId.container(chunk);
        ContainerStore containers = volume.context().containers();
        int number = containers.frameOf(chunk);
        Work<Frame> reader = new Work<>(() -> {
            if (!run) {
                return containers.frame(container, number, false);
            }
            CompletableFuture<Frame> found = new CompletableFuture<>();
            containers.readFrames(container, new int[] {number}, 1, 0, new FrameConsumer() {
                @Override
                public void frame(int frame, Frame contents) {
                    found.complete(contents);
                }

                @Override
                public void damaged(int frame, IOException why) {
                    found.completeExceptionally(why);
                }
            });
            return found.get();
        });
        stop.who = reader.thread;
        stores.watch(stop);
        reader.start();
        awaitUninterrupted(stop.reached);
        return reader;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReaderInAnOldPlaceFindsTheNewOne(boolean run) throws Exception {
        byte[] kept = data(CHUNK);
        long chunk = halfGarbage(kept);
        String pack = packOf(chunk);
        Stop stop = new Stop("readFully", pack);
        Work<Frame> reader = readerAhead(chunk, run, stop);
        CollectionReport report = collection(true).start().result();
        assertEquals(1, report.rewritten(), report::toString);
        assertFalse(stores.containers().exists(pack));
        stop.passed.countDown();
        Frame frame = reader.result();
        int at = frame.offset(ChunkId.slot(chunk));
        assertArrayEquals(kept, Arrays.copyOfRange(frame.data(), at, at + frame.length(ChunkId.slot(chunk))));
        assertNoDamage();
        assertSound();
    }

    /** Zeros in the place of a container that was not moved are damage. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void zerosInAPresentPlaceAreDamage(boolean run) throws Exception {
        long chunk = halfGarbage(data(CHUNK));
        String pack = packOf(chunk);
        Stop stop = new Stop("readFully", pack);
        Work<Frame> reader = readerAhead(chunk, run, stop);
        stores.containers()
                .release(pack, List.of(new FileRange(4096, stores.containers().length(pack) - 4096)));
        stop.passed.countDown();
        assertThrows(Exception.class, reader::result);
    }
}
