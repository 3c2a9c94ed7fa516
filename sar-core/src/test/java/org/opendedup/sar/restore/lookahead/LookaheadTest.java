package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.ReadStream;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.frame.FrameCache;

/** Readers in sequence: the bytes they get, the disk reads they need, and the memory they leave used. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class LookaheadTest {
    private static final int CHUNKS = 10_000;
    private static final int REQUEST = 128 << 10;
    /** A file's references to chunks: more than the memory of a stream holds. */
    private static final int REFERENCES = 20_000;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    @AutoClose
    private HotVolume volume;

    @BeforeEach
    void store() throws IOException {
        volume = new HotVolume(folder, seed, CHUNKS);
        volume.attached = null;
        volume.promotions.active = false;
    }

    /** Runs of 1 to 60 neighbours, from anywhere; some zeros. */
    private int[] scattered() {
        int[] order = new int[REFERENCES];
        for (int i = 0; i < order.length; ) {
            int first = random.nextInt(CHUNKS);
            for (int n = 1 + random.nextInt(60); n > 0 && i < order.length; n--) {
                order[i++] = random.nextInt(40) == 0 ? -1 : Math.min(CHUNKS - 1, first++);
            }
        }
        return order;
    }

    private byte[] read(ReadStream stream, int from, int to) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(to - from);
        while (target.hasRemaining()) {
            int at = from + target.position();
            int length = Math.min(REQUEST, target.remaining());
            boolean continues = stream.note(at, length, volume.expected().length);
            stream.read(at, length, continues, target);
        }
        return target.array();
    }

    private long diskReads() {
        return volume.containers.readStatistics().diskReads();
    }

    @Test
    void itIsReadWithFewerRequestsThanWithoutLookingAhead() throws IOException {
        volume.makeFile(scattered());
        int memory = HotVolume.STREAM_BYTES;
        long reads = diskReads();
        RestoreEngine ahead = volume.engine(new FrameCache(1), false, HotVolume.budget(memory));
        readAll(ahead);
        long readsAhead = diskReads() - reads;
        RestoreEngine plain = volume.engine(new FrameCache(memory), false);
        for (int at = 0; at < volume.expected().length; at += REQUEST) {
            volume.read(plain, at, Math.min(REQUEST, volume.expected().length - at));
        }
        long readsPlain = diskReads() - reads - readsAhead;
        assertTrue(readsAhead < readsPlain, readsAhead + " requests, " + readsPlain + " without");
    }

    @Test
    void theControlACacheThatKeepsMoreThanItMayIsCounted() throws Exception {
        volume.makeFile(scattered());
        long budget = StreamBudget.MIN_SHARE_BYTES;
        StreamBudget generous = new StreamBudget(
                budget, (bytes, holder) -> CachePolicy.LRU.make(CacheParameters.of(16 * bytes, 40_000), holder));
        long within = mostMemory(HotVolume.budget(budget));
        assertTrue(within <= 1.2 * budget, within + " bytes");
        long beyond = mostMemory(generous);
        assertTrue(beyond > 1.2 * budget, beyond + " bytes");
    }

    private long mostMemory(StreamBudget budget) throws IOException {
        RestoreEngine engine = volume.engine(new FrameCache(1 << 20), false, budget);
        readAll(engine);
        return engine.memory().mostBytes();
    }

    @Test
    void aReaderThatGoesElsewhereKeepsItsPlaceUntilItIsIdle() throws Exception {
        volume.makeFile(scattered());
        RestoreEngine engine = volume.engine();
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            read(stream, 0, 2 << 20);
            assertTrue(engine.memory().bytes() > 0);
            read(stream, 20 << 20, (20 << 20) + 1000);
            assertEquals(1, engine.readers().size());
            assertTrue(engine.memory().bytes() > 0);
            HotVolume.streams(engine).tidy(0);
            TestWait.until(() -> engine.memory().bytes() == 0);
        }
    }

    @Test
    void smallReadsHereAndThereAreLeftAlone() throws IOException {
        volume.makeFile(scattered());
        RestoreEngine engine = volume.engine();
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            for (int i = 0; i < 200; i++) {
                int at = random.nextInt(volume.expected().length - 4096);
                assertArrayEquals(Arrays.copyOfRange(volume.expected(), at, at + 4096), read(stream, at, at + 4096));
            }
        }
        assertEquals(0, engine.memory().mostBytes());
    }

    @Test
    void requestsOutOfOrderGetTheirBytes() throws IOException {
        volume.makeFile(scattered());
        RestoreEngine engine = volume.engine();
        int end = volume.expected().length;
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            assertArrayEquals(Arrays.copyOf(volume.expected(), 4 * REQUEST), read(stream, 0, 4 * REQUEST));
            for (int at = 4 * REQUEST; at < end; at += 2 * REQUEST) {
                int middle = Math.min(end, at + REQUEST);
                int last = Math.min(end, at + 2 * REQUEST);
                assertArrayEquals(Arrays.copyOfRange(volume.expected(), middle, last), read(stream, middle, last));
                assertArrayEquals(Arrays.copyOfRange(volume.expected(), at, middle), read(stream, at, middle));
            }
        }
    }

    @Test
    void whatIsWrittenMeanwhileIsSeen() throws IOException {
        int[] order = scattered();
        volume.makeFile(order);
        try (ReadStream stream = volume.engine().stream(HotVolume.INODE)) {
            read(stream, 0, 2 << 20);
            int[] other = scattered();
            System.arraycopy(order, 0, other, 0, order.length / 8);
            volume.makeFile(other);
            int end = volume.expected().length;
            assertArrayEquals(Arrays.copyOfRange(volume.expected(), 2 << 20, end), read(stream, 2 << 20, end));
        }
    }

    @Test
    void manyReadersShareTheMemoryAndAllReadRight() throws Exception {
        volume.makeFile(scattered());
        StreamBudget budget = HotVolume.budget(64 << 20);
        RestoreEngine engine = volume.engine(new FrameCache(1 << 20), false, budget);
        Throwable[] failures = new Throwable[6];
        Thread[] readers = IntStream.range(0, failures.length)
                .mapToObj(i -> new Thread(() -> {
                    try {
                        readAll(engine);
                    } catch (IOException | AssertionError e) {
                        failures[i] = e;
                    }
                }))
                .toArray(Thread[]::new);
        for (Thread reader : readers) {
            reader.start();
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertArrayEquals(new Throwable[failures.length], failures);
        assertTrue(
                engine.memory().mostBytes() <= 1.2 * (64 << 20), engine.memory().mostBytes() + " bytes");
        TestWait.until(() -> engine.memory().bytes() == 0);
    }

    /** Steps of a few MiB want thousands of chunks from the SSD at once. */
    @Test
    void oneReadingAheadServesAPromotedFileToItsEnd() throws IOException {
        volume.attached = volume.ssd;
        int[] order = IntStream.range(0, CHUNKS).toArray();
        volume.makeFile(order);
        volume.promote(order);
        RestoreEngine engine = volume.engine();
        long before = diskReads();
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            assertArrayEquals(volume.expected(), read(stream, 0, volume.expected().length));
            assertEquals(before, diskReads());
            StreamStatus reader = engine.readers().get(0);
            assertTrue(reader.readBytes() > 0.9 * volume.expected().length, "restarted: " + reader);
            assertTrue(reader.ssdBytes() > 0.9 * volume.expected().length, "not from the SSD: " + reader);
        }
    }

    @Test
    void aFrameTableThatCannotBeReadCostsItsOwnChunksAlone() throws IOException {
        volume.attached = volume.ssd;
        int[] order = IntStream.range(0, CHUNKS).toArray();
        volume.makeFile(order);
        // Otherwise the SSD is not used at all.
        volume.promote(0);
        damageFrameTable();
        RestoreEngine engine = volume.engine();
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            assertFewFail(stream);
            StreamStatus reader = engine.readers().get(0);
            assertTrue(reader.readBytes() > 0.9 * volume.expected().length, "restarted: " + reader);
        }
    }

    /** The control: a file that is larger than half of the cache does not enter it. */
    @Test
    void aFileThatFitsIntoHalfOfTheCacheIsReadFromTheDiskOnce() throws IOException {
        volume.makeFile(IntStream.range(0, 4000).toArray());
        int bytes = volume.expected().length;
        assertEquals(0, framesReadAgain(volume.engine(new FrameCache(2L * bytes), false)));
        assertTrue(framesReadAgain(volume.engine(new FrameCache(2L * bytes - 2), false)) > 0);
    }

    /**
     * Number of frames read from the disk when a file is read in sequence for the second time. Frame tables do not
     * count: they have a small cache of their own.
     */
    private long framesReadAgain(RestoreEngine engine) throws IOException {
        readAll(engine);
        long before = engine.cacheMisses();
        readAll(engine);
        return engine.cacheMisses() - before;
    }

    private void readAll(RestoreEngine engine) throws IOException {
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            assertArrayEquals(volume.expected(), read(stream, 0, volume.expected().length));
        }
    }

    @Test
    void damageIsToldToTheReaderOfThoseBytesAlone() throws IOException {
        int[] order = IntStream.range(0, CHUNKS).toArray();
        volume.makeFile(order);
        damageOneContainer();
        RestoreEngine engine = volume.engine();
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            assertFewFail(stream);
        }
    }

    /** Reads the file, of which one or two requests fail, and all others get their bytes. */
    private void assertFewFail(ReadStream stream) throws IOException {
        int failed = 0;
        for (int at = 0; at < volume.expected().length; at += REQUEST) {
            int to = Math.min(volume.expected().length, at + REQUEST);
            byte[] read;
            try {
                read = read(stream, at, to);
            } catch (IOException damaged) {
                failed++;
                continue;
            }
            assertArrayEquals(Arrays.copyOfRange(volume.expected(), at, to), read);
        }
        assertTrue(failed >= 1 && failed <= 2, failed + " requests failed");
    }

    private void damageOneContainer() throws IOException {
        damageOneContainer(length -> length / 3);
    }

    private void damageFrameTable() throws IOException {
        // The footer, which has its offset.
        damageOneContainer(length -> length - 5);
    }

    private void damageOneContainer(IntUnaryOperator place) throws IOException {
        PackedContainer container = PackedContainer.in(folder).get(40);
        container.flipBit(place.applyAsInt(container.bytes()));
    }

    @Test
    void aClosedEngineStillReads() throws IOException {
        volume.makeFile(scattered());
        RestoreEngine engine = volume.engine();
        volume.endPrefetchers();
        readAll(engine);
        assertEquals(0, engine.memory().bytes());
    }
}
